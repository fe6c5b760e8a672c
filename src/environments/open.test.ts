import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scriptedTrajectory } from "../../tests/scripted-trajectory.ts";
import type { Example } from "../core/records.ts";
import { disagreement, type Replayed, replayEpisodes, replayRequest } from "../core/replay.ts";
import { checkEnvironment } from "./check.ts";
import { openEnvironment } from "./open.ts";
import { playable } from "./playable.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "environments-"));
});
afterAll(() => rm(folder, { recursive: true }));

const STEP = `({ state, observation: [], reward: text === String(state) ? 1 : 0,
  end: { code: text === String(state) ? "right" : "wrong", terminated: true, details: {} } })`;

/** An environment in a file of its own; `step` is the body of its function. */
async function fileWith(name: string, step: string, before = ""): Promise<string> {
  const file = path.join(folder, `${name}.ts`);
  await writeFile(
    file,
    `${before}
    export default {
      name: "guess", version: "1.0.0", spec: "Say the number.",
      codes: ["right", "wrong"], solved: ["right"], rewards: [0, 1], maxTurns: 1, random: true,
      tasks: (split: string) => [0, 1].map((i) => ({ id: split + i, prompt: split + " " + i })),
      reset: (_task: unknown, seed: number) => ({
        state: 100 + (seed % 1000),
        observation: [{ role: "user", content: "Guess." }],
        reward: 0,
      }),
      step: (state: number, { text }: { text: string }) => { ${step} },
      players: { gold: String, idle: () => "" },
      ansi: String,
    };`,
  );
  return file;
}

async function firstStep(file: string, limitMs?: number) {
  const { definition } = await openEnvironment(file, limitMs);
  const { state } = definition.reset({ id: "a", prompt: "a" }, 5);
  return definition.step(state, { text: "105" });
}

test("a sound file passes its checks, and its identity is its content", async () => {
  const file = await fileWith("sound", `return ${STEP};`);
  const { definition, identity } = await openEnvironment(file);
  const findings = checkEnvironment(definition, { tasks: 2, seed: 0 });
  expect(findings.filter(({ passed }) => !passed)).toEqual([]);
  expect(identity).toMatchObject({ name: "guess", version: "1.0.0", path: file });
  const other = await openEnvironment(await fileWith("other", `/* changed */ return ${STEP};`));
  expect(other.identity.source_sha256).not.toBe(identity.source_sha256);
  expect((await firstStep(file)).reward).toBe(1);
});

test.each([
  ["throws", "throw new Error('no');", /threw: no/],
  ["hangs", "for (;;) {}", /did not answer within 0.2 s/],
  ["answers with a number", "return 5;", /not valid/],
  ["gives NaN as reward", `return { ...${STEP}, reward: NaN };`, /threw|not valid/],
  ["has an unknown code", `const t = ${STEP}; t.end.code = "x"; return t;`, /ended with x/],
  ["is random", `return { ...${STEP}, metrics: { a: Math.random() } };`, /not deterministic/],
  [
    "counts its calls",
    `return { ...${STEP}, metrics: { a: n++ % 2 } };`,
    /not deterministic|valid/,
  ],
  ["changes its state", `const s: any = state; s.x = 1; return ${STEP};`, /threw|not valid/],
])("one that %s gives no reward and says why", async (name, step, message) => {
  const count = name.startsWith("counts")
    ? "let n = (globalThis as any).started = ((globalThis as any).started ?? 0) + 1;"
    : "";
  const file = await fileWith(name.replaceAll(" ", "-"), step, count);
  const turn = await firstStep(file, 200);
  expect(turn.reward).toBeNull();
  expect(turn.end).toMatchObject({ code: "environment_error", terminated: false });
  expect(String(turn.end?.details.message)).toMatch(message);
});

test("a name that does not exist and a file that is none are refused with a next step", async () => {
  await expect(openEnvironment("chess")).rejects.toMatchObject({
    kind: "usage",
    hint: expect.stringContaining("twenty48"),
  });
  await expect(openEnvironment("twenty84")).rejects.toMatchObject({
    hint: expect.stringContaining("Did you mean twenty48?"),
  });
  await expect(openEnvironment(path.join(folder, "gone.ts"))).rejects.toMatchObject({
    kind: "usage",
    message: expect.stringMatching(/^there is no environment ".*gone\.ts"$/),
    hint: expect.stringContaining("Check the path"),
  });
  const file = path.join(folder, "empty.ts");
  await writeFile(file, "export default { step: () => 1 };");
  await expect(openEnvironment(file)).rejects.toThrow("`name` is missing or wrong");
});

test("a check names the answer on which an environment fails", async () => {
  const file = await fileWith("null", `const { x } = JSON.parse(text || "{}"); return ${STEP};`);
  const { definition } = await openEnvironment(file);
  const findings = checkEnvironment(definition, { tasks: 1, seed: 0 });
  const says = findings.find(({ id }) => id === "reward.well_formed")?.says;
  expect(says).toMatch(/^train0, in step, after " ": it threw/);
});

test.each([
  [`solved: ["right", "almost"]`, /`solved` has almost, which is not in `codes`/],
  [`codes: ["right", "environment_error"]`, /`codes` has environment_error, .* the harness's own/],
  [`codes: ["right", "missing_completion"]`, /`codes` has missing_completion/],
])("codes that would hide or invent outcomes are refused: %s", async (codes, says) => {
  const file = path.join(folder, "codes.ts");
  const sound = await fileWith("to-change", `return ${STEP};`);
  const changed = `import sound from "${sound}";\nexport default { ...sound, ${codes} };`;
  await writeFile(file, changed);
  await expect(openEnvironment(file)).rejects.toThrow(says);
  await writeFile(file, changed.replace(codes, `solved: ["right", "out_of_turns"]`));
  expect((await openEnvironment(file)).definition.solved).toEqual(["right", "out_of_turns"]);
});

test("metrics may have the names of members that every object has", async () => {
  const metrics = `metrics: { toString: 2, constructor: 1 }`;
  const file = await fileWith("named", `return { ...${STEP}, ${metrics} };`);
  const opened = await openEnvironment(file);
  const [task] = opened.definition.tasks("dev");
  const made = await scriptedTrajectory(opened, task as Example, String, { seed: 0 });
  expect(made.metrics).toMatchObject({ toString: 2, constructor: 1 });
  const request = replayRequest(task as Example, made);
  const [again] = await replayEpisodes(playable(opened), [request]);
  expect(disagreement(made, again as Replayed)).toBeUndefined();
});
