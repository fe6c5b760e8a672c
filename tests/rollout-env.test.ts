/** `rollout --env` with checkpoints: tokens as they were sampled, tries, and the command line. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { PlayableEnvironment } from "../src/core/environment.ts";
import type { Trajectory } from "../src/core/trajectory.ts";
import { TINY_POLICY } from "../src/engine/tiny-policy.contract.ts";
import { openPlayable } from "../src/environments/playable.ts";
import { rollout } from "../src/loops/rollout.ts";
import { rolloutEpisodes } from "../src/loops/rollout-episodes.ts";
import { saveCheckpoint } from "../src/policy/checkpoint.ts";
import { type EmbeddedOptions, openEmbeddedPolicy } from "../src/policy/embedded.ts";
import { DEV, describeRun, EXIT, expectError, Workspace } from "./cli.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-env-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let dir = "";
let count = 0;
beforeEach(() => {
  dir = path.join(root, String(count++));
});
const at = (...names: string[]) => path.join(dir, ...names);
const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 6, stop: [], seed: 0 };

interface Lines {
  readonly [field: string]: unknown;
}
const linesOf = <T = Lines>(...names: string[]): T[] =>
  readFileSync(at(...names), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Asks "1+2=", then "3+4=", and so on; pays a point for each turn. */
function sums(turns: number, memoryless = false): PlayableEnvironment {
  const asked = (turn: number) => [{ role: "user" as const, content: `${turn}+${turn + 1}=` }];
  const end = { code: "done", terminated: true, details: {} };
  return {
    environment: {
      identity: { name: "sums", version: "1", spec: "sums", source_sha256: "0", path: null },
      memoryless,
      reset: async () => ({ state: 0, observation: asked(0), reward: 0 }),
      step: async (batch) =>
        batch.map(({ state }) => {
          const turn = (state as number) + 1;
          const last = turn === turns;
          return {
            ...{ state: turn, observation: last ? [] : asked(turn), reward: 1 },
            ...(last && { end }),
          };
        }),
    },
    ...{ tools: [], codes: ["done"], solved: ["done"], rewards: [0, turns] },
    tasks: async () => Array.from({ length: 5 }, (_, i) => ({ id: `s${i}`, prompt: `sum ${i}` })),
    close: async () => {},
  };
}

async function played(
  environment: PlayableEnvironment,
  outdir: string,
  options: Partial<EmbeddedOptions> = {},
) {
  const policy = await openEmbeddedPolicy(at("policy"), { sampling: SAMPLING, ...options });
  try {
    const result = await rolloutEpisodes({
      ...{ policy, environment, split: "dev", n: 3, outdir: at(outdir) },
    });
    return { ...result, trajectories: linesOf<Trajectory>(outdir, "trajectories.jsonl") };
  } finally {
    await policy.close();
  }
}

describe("a checkpoint", () => {
  beforeEach(async () => {
    await saveCheckpoint(at("policy"), TINY_POLICY);
  });

  test.each([
    ["one row of tokens, with every turn", false, 1],
    ["a row for each turn where the policy reads only the last", true, 3],
  ])("leaves %s, and the tokens of a turn are those of its rows", async (_, memoryless, rows) => {
    const { trajectories } = await played(sums(3, memoryless), "r");
    expect(trajectories).toHaveLength(15);
    for (const { segments, messages } of trajectories) {
      expect(segments).toHaveLength(rows);
      const own = (segments ?? []).flatMap(({ tokens, actions }) =>
        actions.map(([from, to]) => tokens.slice(from, to)),
      );
      const sampled = messages.flatMap((one) => (one.role === "assistant" ? [one.sampled] : []));
      expect(own).toEqual(sampled.map(({ token_ids }) => token_ids));
      for (const { token_ids, logprobs } of sampled)
        expect(logprobs).toHaveLength((token_ids ?? []).length);
    }
  });

  test("gives the same bytes in any batch and with any number of threads", async () => {
    await played(sums(3), "r");
    for (const [i, options] of [{ batch: 1 }, { batch: 2, threads: 2 }].entries()) {
      await played(sums(3), `r${i}`, options);
      const name = "trajectories.jsonl";
      expect(readFileSync(at(`r${i}`, name), "utf8")).toBe(readFileSync(at("r", name), "utf8"));
    }
  });

  test("records each seed that played the tasks", async () => {
    const tries: unknown[] = [];
    for (const seed of [0, 1, 1]) {
      const sampling = { ...SAMPLING, seed };
      const { manifest } = await played(sums(1), `r${tries.length}`, { sampling });
      tries.push(manifest.seeds_tried);
    }
    expect(tries).toEqual([1, 2, 2]);
  });

  test("is told which observation it cannot read, and nothing counts as zero", async () => {
    const environment = await openPlayable("email-search");
    await expect(played(environment, "r")).rejects.toMatchObject({
      message: expect.stringMatching(
        /episodes failed .*unreadable_observation.*in the observation/,
      ),
    });
  });
});

test("arithmetic is the scored prompt: greedy episodes are the completions of rollout --dataset", async () => {
  const sampling = { ...SAMPLING, temperature: 0, max_tokens: 32 };
  const policy = await openEmbeddedPolicy("pi0", { sampling });
  const environment = await openPlayable("arithmetic");
  await rolloutEpisodes({ policy, environment, split: "dev", tasks: 30, n: 1, outdir: at("e") });
  writeFileSync(
    at("d.jsonl"),
    `${readFileSync(DEV, "utf8").split("\n").slice(0, 30).join("\n")}\n`,
  );
  await rollout({ policy, dataset: at("d.jsonl"), n: 1, outdir: at("r") });
  await policy.close();
  const episodes = linesOf<Trajectory>("e", "trajectories.jsonl").map(({ id, messages }) => {
    const last = messages.at(-1);
    if (last?.role !== "assistant") throw new Error("no turn");
    return { id, completion: last.content, logprobs: last.sampled.logprobs };
  });
  const completions = linesOf("r", "completions.jsonl").map(({ id, completion, logprobs }) => ({
    ...{ id, completion, logprobs },
  }));
  expect(episodes).toEqual(completions);
});

describe("the command", () => {
  const args = (...flags: string[]) => ["rollout", "--policy", "pi0", "--n", "1", ...flags];

  test("plays, sums up and says what comes next", async () => {
    const workspace = new Workspace();
    const flags = ["--env", "arithmetic", "--tasks", "12", "--max-tokens", "32"];
    const result = await workspace.run(args(...flags, "--outdir", "r"));
    expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
    expect(result.stdout).toMatch(/^Played one episode of each of 12 tasks of arithmetic \(dev\)/);
    expect(result.stdout).toMatch(/pass rate: [\d.]+ % \(\d+ of 12 episodes solved\)/);
    expect(result.stdout).toMatch(/mean reward: [\d.]+\n {2}codes: \w+ \d+/);
    expect(result.stdout).toContain("eval --trajectories r --outdir r-scored");
    for (const line of result.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const again = await workspace.run(args(...flags, "--outdir", "r"));
    expectError(again, EXIT.usage, /already holds a finished rollout/);
  });

  test.each([
    [[], /needs --dataset or --env/],
    [["--env", "arithmetic", "--dataset", "d.jsonl"], /exclude each other/],
    [["--dataset", "d.jsonl", "--split", "train"], /--split needs --env/],
    [["--dataset", "d.jsonl", "--max-failures", "1"], /--max-failures needs --env/],
    [["--env", "nowhere"], /there is no environment named nowhere/],
  ])("refuses %j", async (flags, says) => {
    expectError(await new Workspace().run(args(...flags, "--outdir", "r")), EXIT.usage, says);
  });
});
