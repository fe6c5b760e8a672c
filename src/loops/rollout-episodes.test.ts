/** Episodes of real environments, played by a policy of our own making: what is kept, counted, resumed. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { ActingPolicy, Actor, NoReply, Reply } from "../core/actor.ts";
import type { Message } from "../core/environment.ts";
import { dataError } from "../core/errors.ts";
import { PromptSet } from "../core/prompt-set.ts";
import { type Coordinate, rngAt } from "../core/rng.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { openPlayable } from "../environments/playable.ts";
import { readTrajectories } from "../runs/trajectory-schema.ts";
import { gatherGroups } from "./gather.ts";
import { type RolloutEpisodesOptions, rolloutEpisodes } from "./rollout-episodes.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-episodes-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let dir = "";
let count = 0;
beforeEach(() => {
  dir = path.join(root, String(count++));
});
const file = (...names: string[]) => path.join(dir, ...names);
const read = (...names: string[]) => readFileSync(file(...names), "utf8");

const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 8, stop: [], seed: 3 };

interface Manner {
  readonly batch?: number;
  readonly concurrency?: number;
  /** Milliseconds before an answer. */
  readonly delay?: (address: readonly Coordinate[]) => number;
  /** Called before each reply; what it gives comes in place of one. */
  readonly fails?: (address: readonly Coordinate[], asked: number) => NoReply | undefined;
}

/** Moves at random in 2048: what it plays depends on the address alone. */
class Mover implements ActingPolicy {
  readonly identity = { kind: "mover" };
  readonly prompt = { form: "text" };
  readonly sampling = SAMPLING;
  /** First turns that were asked for. */
  readonly begun: string[] = [];
  readonly #manner: Manner;
  #asked = 0;

  constructor(manner: Manner = {}) {
    this.#manner = manner;
  }

  actor(): Actor<readonly Message[]> {
    const { batch = 1, concurrency = 1 } = this.#manner;
    return {
      ...{ batch, concurrency, preamble: [] },
      begin: (messages) => messages,
      wrote: (context, { completion }) => [...context, { role: "assistant", content: completion }],
      read: (context, messages) => [...context, ...messages],
      hasRoom: () => true,
      answer: (requests) => Promise.all(requests.map(({ address }) => this.#reply(address))),
      row: () => null,
    };
  }

  async #reply(address: readonly Coordinate[]): Promise<Reply | NoReply> {
    const { delay, fails } = this.#manner;
    const failure = fails?.(address, this.#asked++);
    if (failure) return failure;
    if (!address.includes("turn")) this.begun.push(address.slice(2).join(" "));
    if (delay) await new Promise((resolve) => setTimeout(resolve, delay(address)));
    const move = ["left", "right", "up", "down"][rngAt(...address).below(4)];
    return {
      ...{ completion: `<move>${move}</move>`, finish: "stop", logprobs: [-1.5] },
      ...{ prompt_tokens: 9, completion_tokens: 3, sampled_logprobs: null },
    };
  }

  // biome-ignore lint/correctness/useYield: it only plays.
  async *sample(): AsyncGenerator<never> {
    throw new Error("it only plays");
  }

  async close(): Promise<void> {}
}

async function roll(
  policy: ActingPolicy,
  options: Partial<RolloutEpisodesOptions> & { readonly env?: string } = {},
) {
  const { env = "twenty48", ...rest } = options;
  const environment = await openPlayable(env);
  const fixed = { policy, environment, split: "dev" as const, tasks: 6, n: 2 };
  return rolloutEpisodes({ ...fixed, outdir: file("r"), ...rest });
}

async function trajectories(folder = "r"): Promise<Trajectory[]> {
  const all: Trajectory[] = [];
  for await (const batch of readTrajectories(file(folder, "trajectories.jsonl")).batches())
    all.push(...batch);
  return all;
}

/** What must not depend on batches, order or interruptions. */
const bytes = (folder: string) =>
  ["trajectories.jsonl", "trajectories.provenance.json", "summary.json", "README.md"].map((name) =>
    read(folder, name),
  );

const unanswered = (message: string): NoReply => ({
  ...{ type: "endpoint_error", error: dataError(message, "Ask again.") },
});

describe("a rollout in an environment", () => {
  test("counts seeds with greedy decoding too: a seed chooses the games", async () => {
    const mover = new Mover();
    const greedy = (seed: number): ActingPolicy => ({
      ...{ identity: { kind: "mover", fingerprint: "f" }, prompt: mover.prompt },
      sampling: { ...SAMPLING, seed, temperature: 0 },
      place: { path: "p", ledger: root },
      actor: () => mover.actor(),
      sample: () => mover.sample(),
      close: async () => {},
    });
    const tried = async (seed: number, outdir: string) =>
      (await roll(greedy(seed), { outdir: file(outdir), tasks: 2, n: 1 })).manifest.seeds_tried;
    expect([await tried(1, "a"), await tried(1, "b"), await tried(2, "c")]).toEqual([1, 1, 2]);
  });

  test("keeps conversations in the order of tasks and samples, and sums them up", async () => {
    const { manifest, summary } = await roll(new Mover());
    const all = await trajectories();
    expect(all.map(({ id, sample }) => [id, sample])).toEqual(
      [0, 1, 2, 3, 4, 5].flatMap((i) => [0, 1].map((sample) => [`2048-dev-${i}`, sample])),
    );
    const [first] = all as [Trajectory];
    expect(first.address).toEqual([3, "episode", "2048-dev-0", 0]);
    const own = first.messages.filter(({ role }) => role === "assistant");
    expect(first.metrics.turns).toBe(own.length);
    expect(own[0]).toMatchObject({
      sampled: { token_ids: null, logprobs: [-1.5], completion_tokens: 3, finish: "stop" },
    });
    expect(first.reward).toBe(
      own.reduce((sum, one) => sum + ("reward" in one ? Number(one.reward) : 0), 0),
    );
    expect(manifest).toMatchObject({ split: "dev", solved: ["won"], tools: [], n: 2 });
    expect(manifest.environment).toMatchObject({ name: "twenty48", path: null });
    const { episodes } = summary;
    expect(episodes).toMatchObject({ n: 12, n_failed: 0, failures: {} });
    expect(episodes?.reward_mean).toBeCloseTo(
      all.reduce((sum, { reward }) => sum + (reward as number), 0) / 12,
      12,
    );
    expect(episodes?.n_solved).toBe(all.filter(({ code }) => code === "won").length);
    expect(summary.n_answers).toBe(episodes?.turns.total);
    expect(summary.cost.completion_tokens).toBe(3 * summary.n_answers);
  });

  test("gives the same bytes with any batch, any concurrency and any order of ends", async () => {
    await roll(new Mover());
    const delay = (address: readonly Coordinate[]) => rngAt("delay", ...address).below(3);
    const manners = [{ batch: 5 }, { batch: 99 }, { concurrency: 4, delay }];
    for (const [i, manner] of manners.entries()) {
      await roll(new Mover(manner), { outdir: file(`r${i}`) });
      expect(bytes(`r${i}`)).toEqual(bytes("r"));
    }
    await roll(Object.assign(new Mover(), { sampling: { ...SAMPLING, seed: 4 } }), {
      outdir: file("other"),
    });
    expect(read("other", "trajectories.jsonl")).not.toBe(read("r", "trajectories.jsonl"));
  });

  test("shows another policy the same games", async () => {
    const left = new Mover();
    const reply = left.actor().answer;
    const stubborn = Object.assign(new Mover(), {
      actor: (): Actor<readonly Message[]> => ({
        ...left.actor(),
        answer: async (requests) =>
          (await reply(requests)).map((one) => ({
            ...(one as Reply),
            completion: "<move>left</move>",
          })),
      }),
    });
    await roll(new Mover());
    await roll(stubborn, { outdir: file("s") });
    const boards = async (folder: string) =>
      (await trajectories(folder)).map(({ messages }) => messages[0]?.content);
    expect(await boards("s")).toEqual(await boards("r"));
    expect(new Set(await boards("r")).size).toBeGreaterThan(6);
  });

  test("counts the tasks that the policy learned from", async () => {
    const learned = new PromptSet();
    learned.add("2048, game 2 of dev");
    const seen = { learned, validated: new PromptSet() };
    const { manifest } = await roll(Object.assign(new Mover(), { seen }));
    expect(manifest.exposure?.learned).toMatchObject({ rows: 1, first_ids: ["2048-dev-2"] });
    expect(JSON.parse(read("r", "trajectories.provenance.json")).exposure).toEqual(
      manifest.exposure,
    );
  });
});

describe("an interrupted rollout", () => {
  const breaks = (at: number): Manner => ({
    ...{ batch: 4 },
    fails: (_, asked) => {
      if (asked === at) throw dataError("the line is dead", "Mend it.");
      return undefined;
    },
  });

  test.each([250, 400])(
    "plays only the episodes that had not ended, from reply %i on",
    async (at) => {
      const first = new Mover(breaks(at));
      await expect(roll(first)).rejects.toMatchObject({
        message: "the line is dead",
        hint: expect.stringMatching(/Mend it\. The episodes that ended are kept.*--resume/),
      });
      expect(existsSync(file("r", "summary.json"))).toBe(false);
      const held = read("r", "journal.jsonl").trimEnd().split("\n").length - 1;
      expect(held).toBeGreaterThan(0);
      const second = new Mover();
      const seen: number[][] = [];
      await roll(second, { resume: true, onStart: (...numbers) => seen.push(numbers) });
      expect(seen).toEqual([[12, held]]);
      expect(second.begun).toHaveLength(12 - held);
      await roll(new Mover(), { outdir: file("whole") });
      expect(bytes("r")).toEqual(bytes("whole"));
      expect(existsSync(file("r", "journal.jsonl"))).toBe(false);
      const idle = new Mover();
      await roll(idle, { resume: true });
      expect(idle.begun).toEqual([]);
    },
  );

  test("is not continued with another environment, split or number of tasks", async () => {
    await expect(roll(new Mover(breaks(400)))).rejects.toThrow();
    const idle = new Mover();
    for (const [options, differs] of [
      [{ env: "tool-calls" }, /the environment, the tasks/],
      [{ split: "holdout" }, /differs: the tasks \(--split, --tasks\)$/],
      [{ tasks: 5 }, /differs: the tasks/],
      [{ n: 3 }, /differs: --n$/],
    ] as const) {
      await expect(roll(idle, { resume: true, ...options })).rejects.toThrow(differs);
    }
    expect(idle.begun).toEqual([]);
  });
});

describe("an episode that fails", () => {
  const flaky = (...ids: string[]): Manner => ({
    fails: ([, , id, sample]) =>
      ids.includes(`${id} ${sample}`) ? unanswered("503 for ever") : undefined,
  });

  test("is counted, is in no rate, and is never a zero", async () => {
    await roll(new Mover());
    const [lost, ...others] = await trajectories();
    const { summary } = await roll(new Mover(flaky("2048-dev-0 0")), { outdir: file("f") });
    expect(await trajectories("f")).toEqual(others);
    expect(lost?.id).toBe("2048-dev-0");
    expect(summary.episodes).toMatchObject({
      ...{ n: 11, n_failed: 1, failures: { endpoint_error: 1 } },
    });
    const rewards = others.map(({ reward }) => reward as number);
    expect(summary.episodes?.reward_mean).toBeCloseTo(
      rewards.reduce((sum, one) => sum + one, 0) / 11,
      12,
    );
    expect(JSON.parse(read("f", "failures.jsonl"))).toEqual({
      ...{ id: "2048-dev-0", sample: 0, type: "endpoint_error", message: "503 for ever" },
    });
    expect(summary.files).toHaveProperty(["failures.jsonl"]);
  });

  test("ends the rollout when there are more than allowed, and --resume tries them again", async () => {
    const failing = flaky("2048-dev-1 0", "2048-dev-3 1");
    await expect(roll(new Mover(failing), { maxFailures: 1 })).rejects.toMatchObject({
      message:
        "2 episodes failed and --max-failures allows 1; the last is sample 2 of 2048-dev-3 (endpoint_error): 503 for ever",
      hint: expect.stringContaining("--resume"),
    });
    const rest = new Mover();
    await roll(rest, { resume: true });
    expect(rest.begun).toEqual(expect.arrayContaining(["2048-dev-1 0", "2048-dev-3 1"]));
    expect(rest.begun).toHaveLength(12 - 6);
    await roll(new Mover(), { outdir: file("whole") });
    expect(bytes("r")).toEqual(bytes("whole"));
  });

  test("may be the only one, which leaves nothing to write", async () => {
    const failing = flaky("2048-dev-0 0");
    await expect(roll(new Mover(failing), { tasks: 1, n: 1 })).rejects.toThrow(
      /every episode failed; the first: 503 for ever/,
    );
    expect(existsSync(file("r"))).toBe(false);
  });

  const ENVIRONMENT = (step: string) => `
    const end = { code: "done", terminated: true, details: {} };
    let calls = 0;
    export default {
      name: "pebble", version: "1", spec: "Say anything.", codes: ["done"], solved: ["done"],
      rewards: [0, 1], maxTurns: 3, random: false,
      tasks: (split) => Array.from({ length: 6 }, (_, i) => ({ id: \`\${split}-\${i}\`, prompt: \`p\${i}\` })),
      reset: (task) => ({ state: task.id, observation: [{ role: "user", content: task.prompt }], reward: 0 }),
      step(state, action) {
        const last = { state, observation: [], reward: 1, end };
        if (state !== "dev-2") return last;
        ${step}
      },
      players: { idle: () => "" },
      ansi: () => "",
    };`;

  test.each([
    ["throws", 'throw new Error("no pebble");', /it threw: no pebble/],
    [
      "changes its answer",
      "return { ...last, reward: calls++ / 2 + Math.random() };",
      /it is not deterministic|random/,
    ],
    ["gives nonsense", "return { ...last, reward: 'much' };", /not valid/],
  ])("because its environment %s leaves the others alone", async (_, step, says) => {
    await roll(new Mover(), { tasks: 1, n: 1, outdir: file("made") }); // Makes the folder.
    writeFileSync(file("pebble.ts"), ENVIRONMENT(step));
    const { summary } = await roll(new Mover({ batch: 4 }), { env: file("pebble.ts"), n: 1 });
    expect((await trajectories()).map(({ id, reward }) => [id, reward])).toEqual(
      [0, 1, 3, 4, 5].map((i) => [`dev-${i}`, 1]),
    );
    expect(summary.episodes).toMatchObject({
      ...{ n: 5, pass_rate: 1, reward_mean: 1, failures: { environment_error: 1 } },
    });
    expect(JSON.parse(read("r", "failures.jsonl")).message).toMatch(says);
  });

  test("because an environment without a guard throws costs no other episode of its batch", async () => {
    const opened = await openPlayable("arithmetic");
    const step: typeof opened.environment.step = async (batch) => {
      if (JSON.stringify(batch).includes("dev-0003")) throw new Error("no three");
      return opened.environment.step(batch);
    };
    const environment = { ...opened, environment: { ...opened.environment, step } };
    await roll(new Mover({ batch: 6 }), { environment, n: 1 });
    expect((await trajectories()).map(({ code }) => code)).toEqual(
      Array.from({ length: 5 }, () => "missing_prefix"),
    );
    expect(JSON.parse(read("r", "failures.jsonl"))).toEqual({
      ...{ id: "dev-0003", sample: 0, type: "environment_error", message: "it threw: no three" },
    });
  });
});

test("groups in memory hold trajectories and failures of each task", async () => {
  const { environment, tasks } = await openPlayable("twenty48");
  const some = (await tasks("dev")).slice(0, 3);
  const policy = new Mover({
    ...{ concurrency: 3 },
    fails: ([, , id, sample]) =>
      `${id} ${sample}` === "2048-dev-1 1" ? unanswered("no") : undefined,
  });
  const groups = await gatherGroups({
    ...{ actor: policy.actor(), environment, tasks: some, n: 2, seed: 3 },
  });
  expect(
    groups.map(({ id, trajectories: own, failures }) => [id, own.length, failures.length]),
  ).toEqual([
    ["2048-dev-0", 2, 0],
    ["2048-dev-1", 1, 1],
    ["2048-dev-2", 2, 0],
  ]);
  await roll(new Mover(), { tasks: 3 });
  expect(groups.flatMap(({ trajectories: own }) => own)).toEqual(
    (await trajectories()).filter(({ id, sample }) => `${id} ${sample}` !== "2048-dev-1 1"),
  );
});

describe("an environment with a limit on open episodes", () => {
  async function limited(most: number) {
    const opened = await openPlayable("twenty48");
    const open = { now: 0, most: 0, left: 0 };
    const environment: typeof opened.environment = {
      ...opened.environment,
      get episodesAtOnce() {
        return most;
      },
      reset: async (task, rng) => {
        open.most = Math.max(open.most, ++open.now);
        return opened.environment.reset(task, rng);
      },
      step: async (batch) => {
        const turns = await opened.environment.step(batch);
        open.now -= turns.filter(({ end }) => end).length;
        return turns;
      },
      leave: () => {
        open.now--;
        open.left++;
      },
    };
    return { environment: { ...opened, environment }, open };
  }

  test("never has more, and the bytes are the same", async () => {
    await roll(new Mover());
    const { environment, open } = await limited(3);
    await roll(new Mover({ batch: 8 }), { environment, outdir: file("l") });
    expect(open).toEqual({ now: 0, most: 3, left: 0 });
    expect(bytes("l")).toEqual(bytes("r"));
  });

  test("is told of every episode that is not played to its end", async () => {
    const { environment, open } = await limited(3);
    const fails: Manner["fails"] = ([, , id], asked) => {
      if (asked === 200) throw dataError("the line is dead", "Mend it.");
      return id === "2048-dev-0" && asked > 9 ? unanswered("no") : undefined;
    };
    const playing = roll(new Mover({ batch: 8, fails }), { environment, maxFailures: 9 });
    await expect(playing).rejects.toThrow("the line is dead");
    expect(open.left).toBe(2 + 3); // Two without a reply, three in the middle of a game.
    expect(open.now).toBe(0);
  });
});
