import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import { engineTables } from "../bench/engine-tables.mjs";
// @ts-expect-error plain JavaScript
import { episodesTables } from "../bench/episodes-tables.mjs";
// @ts-expect-error plain JavaScript
import { learnTables } from "../bench/learn-tables.mjs";
// @ts-expect-error plain JavaScript
import { peersTables } from "../bench/peers/tables.mjs";

interface Check {
  readonly name: string;
  readonly value: number;
  readonly holds: boolean;
  readonly least?: number;
  readonly most?: number;
}

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
const results = JSON.parse(read("bench/engine-results.json")) as { readonly checks: Check[] };

test("the figures of docs/benchmarks.md are those of the committed benchmarks", () => {
  const page = read("docs/benchmarks.md");
  expect(page).toContain(engineTables(results));
  expect(page).toContain(learnTables(JSON.parse(read("bench/learn-results.json"))));
  expect(page).toContain(episodesTables(JSON.parse(read("bench/episodes-results.json"))));
});

const PEERS = "bench/peers-results.json";
const peers: { readonly rows: readonly (Check & { readonly ratio: number })[] } | undefined =
  existsSync(new URL(`../${PEERS}`, import.meta.url)) ? JSON.parse(read(PEERS)) : undefined;

test("the comparison with peers in docs/benchmarks.md is the committed one", () => {
  const tables = peers ? peersTables(peers) : "";
  expect(read("docs/benchmarks.md")).toContain(
    `<!-- bench:peers -->\n${tables}<!-- /bench:peers -->`,
  );
  for (const { name, ratio, holds, least = 0 } of peers?.rows ?? []) {
    expect(holds, name).toBe(ratio >= least);
  }
});

test("the comparison with peers says what to do where their libraries are missing", () => {
  const { stderr, status } = spawnSync(
    process.execPath,
    [
      fileURLToPath(new URL("../bench/peers.mjs", import.meta.url)),
      // Not a Python at all.
      ...["--python", process.execPath],
    ],
    { encoding: "utf8" },
  );
  expect(status).toBe(64);
  expect(stderr).toContain("cannot import torch");
  expect(stderr).toContain("--install");
});

test("the committed figures say truly which limits they keep", () => {
  for (const { name, value, holds, least = -Infinity, most = Infinity } of results.checks) {
    expect(holds, name).toBe(value >= least && value <= most);
  }
});

test("environment steps, gathering and scoring are a small part of a training step", () => {
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL("../bench/episodes.mjs", import.meta.url))],
    { env: { ...process.env, LOCKEDROOM_BENCH_SMALL: "1" }, encoding: "utf8" },
  );
  expect([0, 1], stderr).toContain(status);
  // The benchmark's limit is 0.05; a test beside other tests is given more.
  const [, share] = /share of a training step ([\d.e-]+)/.exec(stdout) ?? [];
  expect(Number(share)).toBeGreaterThan(0);
  expect(Number(share)).toBeLessThan(0.15);
}, 400_000);

test("the engine's benchmark measures every check that is committed, and in small writes nothing", () => {
  const before = read("bench/engine-results.json");
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL("../bench/engine.mjs", import.meta.url))],
    { env: { ...process.env, LOCKEDROOM_BENCH_SMALL: "1" }, encoding: "utf8" },
  );
  expect(stderr).toBe("");
  // Tiny shapes meet no limit, so 1 is as good as 0; anything else is a crash.
  expect([0, 1]).toContain(status);
  const line = /^(?:ok {2}|MISS| {4}) (.+?) +[\d.e-]+ {2}(?:at (?:least|most) |for comparison)/gm;
  const printed = [...stdout.matchAll(line)];
  expect(printed.map(([, name]) => name)).toEqual(results.checks.map(({ name }) => name));
  expect(read("bench/engine-results.json")).toBe(before);
}, 180_000);
