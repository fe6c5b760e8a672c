// The tables of `npm run bench:engine`.
import { table } from "./page.mjs";

export function engineTables(results) {
  return [
    ...sizesTable(results),
    "",
    ...table(
      ["check", "measured", "limit"],
      results.checks.map(({ name, value, least, most, holds }) => [
        name,
        `${value}${holds ? "" : " (missed)"}`,
        limitOf(least, most),
      ]),
    ),
    "",
    ...growthTable(results),
    "",
    `Measured with Node ${results.node} and ONNX Runtime ${results.runtime} on ${results.cores} cores.`,
    "",
  ].join("\n");
}

/** A row for each size; "a · b" are the values with 1 and 2 threads. */
function sizesTable({ sizes, trained, sampled }) {
  const both = (rows, size, show) =>
    rows
      .filter((row) => row.size === size)
      .map(show)
      .join(" · ");
  return table(
    [
      ...["size", "parameters", "batch", "training, tokens/s", "share of matrix products"],
      ...["sampling, tokens/s", "peak memory"],
    ],
    sizes.map(({ size, parameters, peakMegabytes }) => {
      const { batch, length } = trained.find((row) => row.size === size);
      return [
        size,
        parameters.toLocaleString("en"),
        `${batch} × ${length}`,
        both(trained, size, speed),
        both(trained, size, ({ share }) => share),
        both(sampled, size, speed),
        `${peakMegabytes} MB`,
      ];
    }),
  );
}

function growthTable({ growth }) {
  const most = Math.max(...growth.map(({ points }) => points.length));
  const pad = (cells) => [...cells, ...Array(most - cells.length).fill("")];
  return table(
    ["tokens/s, 1 thread", ...pad([])],
    growth.map(({ name, points }) => [
      name,
      ...pad(points.map((point) => `${point.at}: ${shown(point)}`)),
    ]),
  );
}

function limitOf(least, most) {
  if (least !== undefined) return `≥ ${least}`;
  return most === undefined ? "" : `≤ ${most}`;
}

function shown(point) {
  return point.gain === undefined ? speed(point) : `${point.gain} · ${point.ownGain}`;
}

function speed({ tokensPerSecond }) {
  return Number(tokensPerSecond.toPrecision(3)).toLocaleString("en");
}
