// Puts the benchmark's figures into the README, between its markers.
import { readFileSync, writeFileSync } from "node:fs";

const README = new URL("../README.md", import.meta.url);
const BETWEEN = /(<!-- bench -->\n)[\s\S]*?(<!-- \/bench -->)/;

export function benchTable({ node, cores, sizes, checks }) {
  return [
    "| rows | plain Node | `eval` | ratio | peak memory |",
    "|---|---|---|---|---|",
    ...sizes.map(
      (s) =>
        `| ${s.rows.toLocaleString("en")} | ${s.floorSeconds} s | ${s.evalSeconds} s | ${s.ratio}× | ${s.evalMegabytes} MB |`,
    ),
    "",
    "| check | measured | limit |",
    "|---|---|---|",
    ...checks.map(({ name, value, limit }) => `| ${name} | ${value} | ${limit} |`),
    "",
    `Node ${node}, ${cores} cores. Seconds are this machine's; the ratios are what is claimed.`,
    "",
  ].join("\n");
}

export function updateReadme(results) {
  const text = readFileSync(README, "utf8");
  if (!BETWEEN.test(text)) throw new Error("README.md has no <!-- bench --> markers");
  writeFileSync(README, text.replace(BETWEEN, `$1${benchTable(results)}$2`));
}
