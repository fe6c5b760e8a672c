/** Better numbers without a better policy: rows and trajectories that were edited with all hashes. */

import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { type EpisodeRoom, episodeRoom, type RolloutParts } from "../../tests/episode-runs.ts";
import { SequenceFingerprint, sha256 } from "../core/fingerprint.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { openPlayable } from "../environments/playable.ts";
import { evaluateTrajectories } from "../loops/eval-trajectories.ts";
import { Tally } from "../loops/tally.ts";
import { manifestFingerprint } from "../runs/manifest.ts";
import type { Manifest, ResultRow } from "../runs/schemas.ts";
import { gate } from "./gate.ts";

const room: EpisodeRoom = episodeRoom();
const half = (place: number) => (place % 2 === 0 ? ("gold" as const) : ("idle" as const));

async function evaluated(name: string, parts: Partial<RolloutParts>): Promise<string> {
  const env = parts.env ?? "tool-calls";
  const trajectories = await room.rollout(`${name}-rollout`, { env, tasks: 24, ...parts });
  const environment = await openPlayable(env);
  await evaluateTrajectories({ trajectories, environment, outdir: room.path(name) });
  return room.path(name);
}

/** Edits a finished run, and writes every figure and hash anew as the program would. */
function forge(
  dir: string,
  row: (row: ResultRow) => ResultRow,
  manifest: (manifest: Manifest) => Manifest = (one) => one,
): void {
  const read = (name: string) => readFileSync(`${dir}/${name}`, "utf8");
  const rows = read("results.jsonl").trim().split("\n");
  const edited = rows.map((line) => row(JSON.parse(line)));
  const results = edited.map((one) => `${canonicalJson(one as unknown as Json)}\n`).join("");
  const tally = new Tally();
  const answers = new SequenceFingerprint();
  for (const one of edited) {
    tally.add(one);
    answers.add(JSON.stringify([one.id, one.completion]));
  }
  const described = manifest(JSON.parse(read("manifest.json")));
  const whole = { ...described, answers_sha256: answers.digest() };
  writeFileSync(`${dir}/results.jsonl`, results);
  writeFileSync(`${dir}/manifest.json`, JSON.stringify(whole));
  const summary = {
    ...JSON.parse(read("summary.json")),
    metrics: tally.metrics,
    outcomes: { counts: { ...tally.counts } },
    episodes: tally.episodes,
    results_sha256: sha256(results),
    manifest_sha256: manifestFingerprint(whole),
  };
  writeFileSync(`${dir}/summary.json`, JSON.stringify(summary));
}

const SOLVED = { reward: 1, outcome_code: "solved", passed: true };
const codes = async (baseline: string, candidate: string) =>
  (await gate({ baseline, candidate, claim: "policy" })).reasons.map(({ code }) => code);

describe("rows that were edited with all hashes", () => {
  let weak: string;
  beforeAll(async () => {
    weak = await evaluated("weak", { policy: "weak", player: half });
  });

  test("a forger who changes nothing is not accused", async () => {
    const candidate = await evaluated("honest", { policy: "honest" });
    forge(candidate, (row) => row);
    expect(await gate({ baseline: weak, candidate, claim: "policy" })).toMatchObject({
      decision: "PROMOTE",
    });
  });

  test("a solved row without its conversation is found", async () => {
    const candidate = await evaluated("silent", { policy: "silent", player: half });
    forge(candidate, ({ episode, ...row }) =>
      row.passed ? { ...row, ...(episode && { episode }) } : { ...row, ...SOLVED },
    );
    const found = await codes(weak, candidate);
    expect(found).toContain("rewards_differ_from_scorer");
    expect(found).not.toContain("run_edited");
  });

  test("rewards are checked too where the manifest calls the embedded environment a file", async () => {
    const candidate = await evaluated("renamed", { policy: "renamed", player: half });
    forge(
      candidate,
      (row) => ({ ...row, ...SOLVED }),
      (one) => ({
        ...one,
        environment: { ...one.environment, path: "tool-calls.ts" } as Manifest["environment"],
      }),
    );
    expect(await codes(weak, candidate)).toContain("rewards_differ_from_scorer");
  });

  test("a figure that the environment does not give is found", async () => {
    const candidate = await evaluated("figures", { policy: "figures" });
    forge(candidate, (row) => ({
      ...row,
      ...(row.episode && {
        episode: { ...row.episode, metrics: { ...row.episode.metrics, safety: 1 } },
      }),
    }));
    expect(await codes(weak, candidate)).toContain("rewards_differ_from_scorer");
  });

  test("other codes of a solved task are another environment", async () => {
    const candidate = await evaluated("lenient", { policy: "lenient" });
    forge(
      candidate,
      (row) => row,
      (one) => ({ ...one, solved: [...(one.solved ?? []), "wrong_tool"] }),
    );
    expect(await codes(weak, candidate)).toContain("environment_differs");
  });
});

describe("games that were chosen", () => {
  const left = () => () => "<move>left</move>";
  const parts = { env: "twenty48", tasks: 6, player: left };
  const elsewhere = (one: Trajectory): Trajectory => ({ ...one, sample: 0 });

  test("episodes of other seeds than the rollout's are refused", async () => {
    await expect(
      evaluated("shopped", { ...parts, seed: 7, sampling: { seed: 0, temperature: 1 } }),
    ).rejects.toThrow(/2048-dev-0, sample 1: it was not played with the seed 0/);
  });

  test("another sample of a task is not the first", async () => {
    const second = {
      n: 2,
      edit: (one: Trajectory) => (one.sample === 1 ? elsewhere(one) : undefined),
    };
    await expect(evaluated("picked", { ...parts, ...second })).rejects.toThrow(
      /sample 1: it was not played with the seed 0 as its sample 1/,
    );
  });

  test("rows of other games are found by the gate", async () => {
    const baseline = await evaluated("left", { ...parts, policy: "left" });
    const other = await evaluated("other-games", { ...parts, policy: "other", seed: 7 });
    expect(await codes(baseline, other)).toContain("seeds_differ");
    forge(
      other,
      (row) => row,
      (one) => ({ ...one, sampling: { seed: 0, temperature: 1 } }),
    );
    const found = await codes(baseline, other);
    expect(found).toContain("episodes_not_of_seed");
    expect(found).not.toContain("run_edited");
  });

  test("a greedy policy meets other games with another seed", async () => {
    const cold = (seed: number) => ({ ...parts, seed, sampling: { seed, temperature: 0 } });
    const baseline = await evaluated("cold-0", { ...cold(0), policy: "left" });
    const other = await evaluated("cold-7", { ...cold(7), policy: "other" });
    expect(await codes(baseline, other)).toContain("seeds_differ");
    const same = await evaluated("cold-again", { ...cold(0), policy: "other" });
    expect(await codes(baseline, same)).not.toContain("seeds_differ");
  });
});

test("tasks that were chosen are pointed out; the first ones of a split are not", async () => {
  const environment = await openPlayable("tool-calls");
  const chosen = async (name: string, keep: (place: number) => boolean) => {
    const folder = await room.rollout(`${name}-rollout`, { env: "tool-calls", tasks: 24 });
    const lines = readFileSync(`${folder}/trajectories.jsonl`, "utf8").trim().split("\n");
    const trajectories = room.path(`${name}.jsonl`);
    writeFileSync(trajectories, `${lines.filter((_, place) => keep(place)).join("\n")}\n`);
    const outdir = room.path(name);
    await evaluateTrajectories({ trajectories, environment, outdir });
    return (await gate({ baseline: outdir, candidate: outdir })).notes.join(" ");
  };
  expect(await chosen("every-third", (place) => place % 3 === 0)).toContain(
    "The episodes are of 8 of the 70 tasks of the split, which are not its first ones",
  );
  expect(await chosen("first-ones", (place) => place < 8)).not.toContain("not its first ones");
});
