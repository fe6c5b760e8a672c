// The tables of `npm run bench:peers`, on the terminal and in docs/benchmarks.md.
import { table } from "../page.mjs";

/** At most 80 columns. */
export function printedTable(rows) {
  const line = (cells) => {
    const [mark, name, ours, theirs, ratio, goal] = cells;
    const numbers = [ours.padStart(9), theirs.padStart(9), ratio.padStart(7), goal.padStart(6)];
    return `${mark.padEnd(5)}${name.padEnd(40)}${numbers.join(" ")}`.trimEnd();
  };
  return [
    line(["", "", "ours", "theirs", "ratio", "goal"]),
    ...rows.map(({ name, ours, theirs, unit, ratio, least, holds }) =>
      line([
        holds ? "ok" : "MISS",
        name,
        ...[ours, theirs].map((value) => figure(value, unit)),
        `${ratio}×`,
        `≥ ${least}`,
      ]),
    ),
  ].join("\n");
}

export function peersTables({ node, cores, versions, rounds, rows }) {
  const loops = rows.filter(({ unit }) => unit === "s/step");
  const engines = rows.filter(({ unit }) => unit === "tokens/s");
  const cells = ({ name, ours, theirs, unit, ratio, least }) => [
    ...[name, figure(ours, unit), figure(theirs, unit), `${ratio}×`, `≥ ${least}`],
  ];
  return [
    ...table(
      ["training, time per step", "ours", "TRL", "ratio", "goal", "ours, loop alone"],
      loops.map((row) => [...cells(row), figure(row.loop, row.unit)]),
    ),
    "",
    ...table(
      ["tokens per second", "ours", "theirs", "ratio", "goal"],
      engines.map((row) => cells(row)),
    ),
    "",
    ...table(
      ["peak memory; tokens per completion", "ours", "TRL", "ours", "TRL"],
      loops.map(({ name, megabytes, tokens }) => [
        name,
        ...[megabytes.ours, megabytes.theirs].map((value) => `${value} MB`),
        ...[tokens.ours, tokens.theirs].map((value) => value ?? ""),
      ]),
    ),
    "",
    `Measured with Node ${node}, torch ${versions.torch}, transformers ${versions.transformers} and TRL ${versions.trl} on ${cores} cores, ${rounds} rounds.`,
    "",
  ].join("\n");
}

function figure(value, unit) {
  return unit === "s/step" ? `${value} s` : value.toLocaleString("en-US");
}
