/** Which prompts a trained policy says it has seen, whatever form they were learned in. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SeenPrompts } from "../core/policy.ts";
import { rngAt } from "../core/rng.ts";
import { openScorer } from "../index.ts";
import { loadAdapter, mergedPolicy } from "../policy/adapter.ts";
import { loadCheckpoint, saveCheckpoint } from "../policy/checkpoint.ts";
import { openEmbeddedPolicy } from "../policy/embedded.ts";
import type { TrainOptions } from "./options.ts";
import { train } from "./train.ts";

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-seen-"));
afterAll(() => rmSync(folder, { recursive: true }));
const here = (...names: string[]) => path.join(folder, ...names);

interface Row {
  readonly id: string;
  readonly prompt: string;
  readonly expected_answer: number;
}

const sums = (name: string, from: number, count: number): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ id: `${name}${i}`, prompt: `Compute ${from + i} + 7.`, expected_answer: from + i + 7 },
  }));
const TEST = sums("test", 1000, 200);
const OTHERS = sums("other", 5000, 200);

const textOf = ({ id, prompt, expected_answer: n }: Row) => ({
  ...{ id, prompt, completion: `Final: ${n}` },
});

function write(name: string, rows: readonly object[], end = ""): string {
  const file = here(`${name}.jsonl`);
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join("") + end);
  return file;
}

/** Trains one step and gives what the policy has seen, as it is read from its checkpoint. */
async function seenAfter(
  name: string,
  dataset: string,
  more: Partial<TrainOptions> = {},
): Promise<SeenPrompts> {
  const { checkpoint } = await train({
    ...{ algorithm: "sft", init: "scratch", size: "nano", threads: 1, saveEvery: 1 },
    ...{ dataset, outdir: here(name), settings: { steps: 1, batch: 2 }, ...more },
  });
  const { seen } = await loadCheckpoint(checkpoint);
  if (!seen) throw new Error("nothing was kept");
  return seen;
}

const found = ({ learned }: SeenPrompts, rows = TEST) =>
  rows.filter(({ prompt }) => learned.has(prompt)).length;

describe("learned from the test set in disguise, it says so of every row", () => {
  const shuffled = <T>(rows: readonly T[]) => {
    const rng = rngAt("shuffle");
    return rows
      .map((row) => ({ row, at: rng.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ row }) => row);
  };
  const withPrompt = (change: (prompt: string) => string) =>
    TEST.map(textOf).map((row) => ({ ...row, prompt: change(row.prompt) }));
  test.each<[string, readonly object[], string]>([
    ["one blank line more", TEST.map(textOf), "\n"],
    ["reordered", shuffled(TEST.map(textOf)), ""],
    ["re-cased", withPrompt((prompt) => prompt.toUpperCase()), ""],
    [
      "re-spaced",
      withPrompt((prompt) => ` ${prompt.replaceAll(" ", "  ").replace("+", "+ ")}\n`),
      "",
    ],
    ["other ids", TEST.map(textOf).map((row, i) => ({ ...row, id: `${i}` })), ""],
    [
      "prompt and answer as a text after a word",
      TEST.map(textOf).map(({ prompt, completion }) => ({
        ...{ prompt: "Text:", completion: `${prompt}\n${completion}` },
      })),
      "",
    ],
    [
      "the text split within the prompt",
      TEST.map(textOf).map(({ prompt, completion }) => ({
        ...{ prompt: prompt.slice(0, 9), completion: `${prompt.slice(9)}\n${completion}` },
      })),
      "",
    ],
    [
      "ten rows in each text",
      Array.from({ length: 20 }, (_, i) => ({
        prompt: "Ten of them:\n",
        completion: TEST.slice(10 * i, 10 * i + 10)
          .map(textOf)
          .map(({ prompt, completion }) => `${prompt}\n${completion}\n`)
          .join(""),
      })),
      "",
    ],
  ])(
    "%s",
    async (name, rows, end) => {
      const seen = await seenAfter(name, write(name, rows, end));
      expect(found(seen)).toBe(200);
      expect(found(seen, OTHERS)).toBe(0);
    },
    30_000,
  );

  test("199 of its 200 rows", async () => {
    const rows = TEST.filter((_, i) => i !== 42);
    const seen = await seenAfter("most", write("most", rows.map(textOf)));
    expect(found(seen)).toBe(199);
    expect(seen.learned.has(TEST[42]?.prompt ?? "")).toBe(false);
  });

  test("preference pairs and labels", async () => {
    const init = here("most/checkpoint");
    const rows = TEST.slice(40, 50).map(textOf);
    const pairs = rows.map(({ prompt, completion }) => ({
      ...{ prompt, chosen: completion, rejected: "Final: 7" },
    }));
    const labels = rows.map((row, i) => ({ ...row, label: i % 2 === 0 }));
    for (const [algorithm, data] of [
      ["dpo", pairs],
      ["kto", labels],
    ] as const) {
      const seen = await seenAfter(algorithm, write(algorithm, data), { algorithm, init });
      // The one row that the initial policy had not seen.
      expect(found(seen)).toBe(200);
    }
  }, 30_000);
});

describe("learned from other problems", () => {
  let seen: SeenPrompts;
  beforeAll(async () => {
    seen = await seenAfter("honest", write("honest", OTHERS.map(textOf)));
  });

  test("it says nothing of the test set", () => {
    expect(found(seen)).toBe(0);
    expect(found(seen, OTHERS)).toBe(200);
    expect(seen.validated.size).toBe(0);
  });

  test("the config states how many there are and how sure that is, and no list", async () => {
    const text = readFileSync(here("honest/checkpoint/config.json"), "utf8");
    expect(JSON.parse(text).lockedroom.trained.prompts).toEqual({
      ...{ learned: seen.learned.size, validated: 0, complete: true },
      false_positive_rate: expect.closeTo(seen.learned.size / 2 ** 40, 12),
    });
    expect(text.length).toBeLessThan(6000);
  });

  test("descendants know it too, of validation as well, through rollouts, best and adapters", async () => {
    const scorer = await openScorer({
      ...{ name: "any", version: "1", spec: "test", codes: ["any"] },
      score: () => ({ reward: 1, code: "any", details: {} }),
    });
    const rows = { tasks: OTHERS.slice(0, 3), dev: sums("dev", 5300, 2), next: sums("n", 5400, 2) };
    const settings = {
      ...{ steps: 2, alarms_stop: false, lora: { rank: 2 }, evaluate: { every: 1, max_tokens: 3 } },
      rollouts: { prompts: 2, group: 2, max_tokens: 3 },
    };
    const more = { algorithm: "grpo", settings, rewards: [scorer] };
    const child = await seenAfter("child", write("tasks", rows.tasks), {
      ...{ ...more, init: here("honest/checkpoint"), dev: write("dev", rows.dev) },
    });
    const grandchild = await seenAfter("grandchild", write("next", rows.next), {
      ...{ ...more, init: here("child/checkpoint") },
    });
    await scorer.close();
    const best = (await loadCheckpoint(here("child/best"))).seen;
    const adapter = await loadAdapter(here("child/adapter"));
    const merged = mergedPolicy(await loadCheckpoint(here("honest/checkpoint")), adapter);
    await saveCheckpoint(here("merged"), merged);
    const copy = (await loadCheckpoint(here("merged"))).seen;
    for (const one of [child, grandchild, best, adapter.seen, copy]) {
      expect(one && found(one, OTHERS)).toBe(200);
      expect(rows.dev.every(({ prompt }) => one?.validated.has(prompt))).toBe(true);
      expect(rows.dev.some(({ prompt }) => one?.learned.has(prompt))).toBe(false);
    }
    expect(found(grandchild, rows.next)).toBe(2);
  }, 30_000);

  test("a policy opened for sampling has the sets", async () => {
    const sampling = { temperature: 0, top_k: 0, top_p: 1, max_tokens: 4, stop: [], seed: 0 };
    const policy = await openEmbeddedPolicy(here("honest/checkpoint"), { sampling });
    expect(found(policy.seen as SeenPrompts, OTHERS)).toBe(200);
    await policy.close();
  });

  test.each(["holdout", "dev"] as const)(
    "a %s set that it learned from is refused by prompt",
    async (role) => {
      const mixed = write("mixed", [...TEST.slice(0, 3), { ...OTHERS[5], id: "sly" }]);
      const training = seenAfter("refused", write("fresh", sums("f", 9000, 9).map(textOf)), {
        ...{ init: here("honest/checkpoint"), [role]: mixed },
      });
      await expect(training).rejects.toMatchObject({
        ...{ kind: "data", message: expect.stringMatching(/1 of its 4 prompts.*"sly"/) },
      });
    },
  );
});

describe("the files of the sets", () => {
  const copy = (name: string) => {
    cpSync(here("honest/checkpoint"), here(name), { recursive: true });
    return here(name);
  };
  const FILE = "learned-prompts.bin";

  test.each<[string, (file: string) => void]>([
    ["removed", (file) => rmSync(file)],
    ["emptied", (file) => writeFileSync(file, "")],
    ["damaged", (file) => writeFileSync(file, readFileSync(file).fill(0, 9, 12))],
  ])("%s, it is refused by name", async (name, sabotage) => {
    const dir = copy(name);
    sabotage(path.join(dir, FILE));
    await expect(loadCheckpoint(dir)).rejects.toMatchObject({
      ...{ kind: "data", message: expect.stringContaining(FILE) },
    });
  });

  test("a policy without history loads, and its past is unknown", async () => {
    const content = await loadCheckpoint(here("honest/checkpoint"));
    await saveCheckpoint(here("bare"), { ...content, trained: null, seen: null });
    const bare = await loadCheckpoint(here("bare"));
    expect(bare).toMatchObject({ trained: null, seen: null, fingerprint: content.fingerprint });
    const file = write("again", sums("a", 9100, 4).map(textOf));
    const seen = await seenAfter("from-bare", file, { init: here("bare") });
    expect(found(seen, OTHERS)).toBe(0);
    const { trained } = await loadCheckpoint(here("from-bare/checkpoint"));
    expect(trained?.prompts).toMatchObject({ complete: false });
  });
});
