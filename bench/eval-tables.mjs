// The tables of `npm run bench`.
import { table } from "./page.mjs";

export function evalTables({ node, cores, sizes, checks }) {
  return [
    ...table(
      ["rows", "plain Node", "`eval`", "ratio", "peak memory"],
      sizes.map((s) => [
        s.rows.toLocaleString("en"),
        `${s.floorSeconds} s`,
        `${s.evalSeconds} s`,
        `${s.ratio}×`,
        `${s.evalMegabytes} MB`,
      ]),
    ),
    "",
    ...table(
      ["check", "measured", "limit"],
      checks.map(({ name, value, limit }) => [name, value, `≤ ${limit}`]),
    ),
    "",
    `Measured with Node ${node} on ${cores} cores.`,
    "",
  ].join("\n");
}
