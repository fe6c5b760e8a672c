// The tables of `npm run bench:episodes`.
import { table } from "./page.mjs";

export function episodesTables({ node, turns, seconds_per_step, share, checks }) {
  return [
    ...table(
      ["turns a game", "s/step", ...Object.keys(share)],
      [
        [
          ...[turns, seconds_per_step],
          ...Object.values(share).map((part) => `${(100 * part).toFixed(1)} %`),
        ],
      ],
    ),
    "",
    ...table(
      ["check", "measured", "limit"],
      checks.map(({ name, value, limit }) => [name, value, `≤ ${limit}`]),
    ),
    "",
    `Measured with Node ${node}, two threads.`,
    "",
  ].join("\n");
}
