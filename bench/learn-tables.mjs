// The tables of `npm run bench:learn`.
import { table } from "./page.mjs";

export function learnTables({ node, steps_per_second, share, checks }) {
  return [
    ...table(
      ["steps/s", ...Object.keys(share)],
      [[steps_per_second, ...Object.values(share).map((part) => `${(100 * part).toFixed(1)} %`)]],
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
