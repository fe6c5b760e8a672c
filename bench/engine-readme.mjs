// Puts the engine's figures into the README, between its markers.
import { readFileSync, writeFileSync } from "node:fs";

const README = new URL("../README.md", import.meta.url);
const BETWEEN = /(<!-- bench:engine -->\n)[\s\S]*?(<!-- \/bench:engine -->)/;

export function engineTable(results) {
  return [
    ...sizesTable(results),
    "",
    "| check | measured | limit |",
    "|---|---|---|",
    ...results.checks.map(
      ({ name, value, least, most, holds }) =>
        `| ${name} | ${value}${holds ? "" : " (missed)"} | ${limitOf(least, most)} |`,
    ),
    "",
    ...growthTable(results),
    "",
    `Node ${results.node}, ONNX Runtime ${results.runtime}, ${results.cores} cores. Speeds are this machine's, which it shares: the same speed measured twice in one run differs by up to a third. The ratios are what is claimed.`,
    "",
  ].join("\n");
}

/** A row for each size; what depends on threads is written "with 1 · with 2". */
function sizesTable({ sizes, trained, sampled }) {
  const both = (rows, size, show) =>
    rows
      .filter((row) => row.size === size)
      .map(show)
      .join(" · ");
  return [
    "| size | parameters | batch | training, tokens/s | share of the products | sampling, tokens/s | peak memory |",
    "|---|---|---|---|---|---|---|",
    ...sizes.map(({ size, parameters, peakMegabytes }) => {
      const { batch, length } = trained.find((row) => row.size === size);
      return row([
        size,
        parameters.toLocaleString("en"),
        `${batch} × ${length}`,
        both(trained, size, speed),
        both(trained, size, ({ share }) => share),
        both(sampled, size, speed),
        `${peakMegabytes} MB`,
      ]);
    }),
  ];
}

function growthTable({ growth }) {
  const most = Math.max(...growth.map(({ points }) => points.length));
  const pad = (cells) => [...cells, ...Array(most - cells.length).fill("")];
  return [
    row(["tokens/s, 1 thread", ...pad([])]),
    row(Array(most + 1).fill("---")),
    ...growth.map(({ name, points }) =>
      row([name, ...pad(points.map((point) => `${point.at}: ${shown(point)}`))]),
    ),
  ];
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

function row(cells) {
  return `| ${cells.join(" | ")} |`;
}

export function updateReadme(results) {
  const text = readFileSync(README, "utf8");
  if (!BETWEEN.test(text)) throw new Error("README.md has no <!-- bench:engine --> markers");
  writeFileSync(
    README,
    text.replace(BETWEEN, (_, open, close) => open + engineTable(results) + close),
  );
}
