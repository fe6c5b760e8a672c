/** From rollouts in an environment to the gate's verdict, by the command alone. */

import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { EXIT, expectError, Workspace } from "./cli.ts";
import { chat, FakeEndpoint } from "./endpoint.ts";

/** Two turns: say the number that is shown, twice. */
const GAME = `
const shown = (n) => [{ role: "user", content: "Say " + n }];
const end = (code, reward) => ({ observation: [], reward, end: { code, terminated: true, details: {} } });
export default {
  name: "say-it", version: "1.0.0", spec: "Say the number that is shown, twice.",
  codes: ["said", "missed"], solved: ["said"], rewards: [0, 1], maxTurns: 3, random: true,
  tasks: (split) => Array.from({ length: 40 }, (_, i) => ({ id: split + "-" + i, prompt: "Task " + i })),
  reset: (task, seed) => {
    const n = 2 * (seed % 50) + Number(task.id.split("-")[1]) % 2;
    return { state: { n, turn: 0 }, observation: shown(n), reward: 0 };
  },
  step: ({ n, turn }, { text }) => {
    if (text !== String(n)) return { state: { n, turn: 1 }, ...end("missed", 0) };
    if (turn === 1) return { state: { n, turn: 2 }, ...end("said", 0.75) };
    return { state: { n, turn: 1 }, observation: shown(n), reward: 0.25, metrics: { first: 1 } };
  },
  players: { gold: ({ n }) => String(n), idle: () => "" },
  ansi: ({ n }) => String(n),
};
`;

/** Every command is a process of its own. */
const LIMIT_MS = 600_000;
const workspace = new Workspace();
let env: Record<string, string> = {};
const run = (...args: string[]) => workspace.run(args, { env, limitMs: LIMIT_MS });

async function done(...args: string[]): Promise<string> {
  const result = await run(...args);
  expect(result, result.stderr).toMatchObject({ code: EXIT.ok });
  return result.stdout;
}

beforeAll(async () => {
  const endpoint = await FakeEndpoint.start(({ prompt, body }) => {
    const number = Number(prompt.match(/\d+/)?.[0]);
    const fails = body.model === "weak" && number % 2 === 1;
    return { body: chat(fails ? "I cannot" : String(number)) };
  });
  env = endpoint.env;
  workspace.write("game.ts", GAME);
  for (const model of ["weak", "strong"]) {
    await done(
      ...["rollout", "--env", "game.ts", "--split", "holdout", "--policy", `openai:${model}`],
      ...["--n", "1", "--outdir", model],
    );
    await done("eval", "--trajectories", model, "--outdir", `${model}-scored`);
  }
}, LIMIT_MS);

describe("episodes of two policies", { timeout: LIMIT_MS }, () => {
  test("are replayed, read and compared: PROMOTE with the claim policy", async () => {
    const { summary, manifest } = workspace.readRun("weak-scored");
    expect(summary.metrics).toMatchObject({ n_examples: 40, n_pass: 20, mean_reward: 0.5 });
    expect(summary.episodes?.metrics).toMatchObject({ turns: { mean: 1.5 }, first: { n: 20 } });
    expect(manifest).toMatchObject({ split: "holdout", environment: { name: "say-it" } });
    const shown = await done("inspect-run", "--run", "weak-scored", "--show", "1");
    expect(shown).toContain("pass rate    0.5000  20 of 40");
    expect(shown).toMatch(/^missed {2}20 rows/m);
    const whole = await done("inspect-run", "--run", "strong", "--id", "holdout-3");
    expect(whole).toMatch(/^assistant, turn 1, reward 0\.25$/m);
    expect(whole).toMatch(/^assistant, turn 2, reward 0\.75$/m);
    const pair = ["--baseline", "weak-scored", "--candidate", "strong-scored"];
    const verdict = await done("gate", ...pair, "--claim", "policy");
    expect(verdict).toMatch(/PROMOTE/);
    expect(await done("compare", "strong-scored", "--baseline", "weak-scored")).toMatch(/strong/);
    const verified = ["--verified", "--verify-only", "files", "data", "answers", "score"];
    expect(await done("gate", ...pair, "--claim", "policy", ...verified)).toMatch(/PROMOTE/);
    expect(await done("report", "--run", "weak-scored", "--outfile", "weak.html")).toContain(
      "50.0 %",
    );
    expect(await done("report", "--run", "weak", "--outfile", "rollout.html")).toContain(
      "40 episodes",
    );
  });

  test("of several samples are selected from, which is not learning", async () => {
    await done(
      ...["rollout", "--env", "game.ts", "--policy", "openai:weak", "--n", "2", "--tasks", "6"],
      ...["--outdir", "pack"],
    );
    const text = await done(
      "selection-demo",
      "--trajectories",
      "pack",
      "--n",
      "2",
      "--outdir",
      "best",
    );
    expect(text).toContain("Selected from the first 2 episodes of 6 tasks, by best.");
    expect(text).toContain("This is selection, not learning");
  });

  test("say so where the environment has changed since, or the file has", async () => {
    const changed = GAME.replace("0.25", "0.5").replace("0.75", "0.5");
    workspace.write("game.ts", changed);
    const again = ["eval", "--trajectories", "strong", "--outdir", "again"];
    expectError(
      await run(...again),
      EXIT.data,
      /holdout-0, sample 1, turn 1: the reward is 0.25, but say-it gives 0.5/,
      /The environment's code is not that of the rollout/,
    );
    workspace.write("game.ts", GAME.replace("Say the number that", "Say that number which"));
    expect(await done(...again)).toMatch(/It gives the same messages,\s+rewards and codes/);
    const pair = ["--baseline", "weak-scored", "--candidate", "again"];
    const refused = await run("gate", ...pair, "--claim", "policy");
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain("environment_differs");
    workspace.write("game.ts", GAME);
    const file = workspace.path("strong", "trajectories.jsonl");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.slice(0, -50));
    expectError(
      await run("eval", "--trajectories", "strong", "--outdir", "cut"),
      EXIT.data,
      /strong\/trajectories\.jsonl:40: not valid JSON/,
    );
    writeFileSync(file, text.replaceAll("holdout-7", "holdout-70"));
    expectError(
      await run("eval", "--trajectories", file, "--outdir", "cut"),
      EXIT.data,
      /trajectories\.jsonl:8: the environment say-it has no task "holdout-70" in the split holdout/,
    );
    expect(workspace.has("cut")).toBe(false);
  });
});

describe("wrong usage", { timeout: LIMIT_MS }, () => {
  test.each([
    [["eval", "--outdir", "x"], /eval needs --dataset/],
    [["eval", "--env", "twenty48", "--outdir", "x"], /--env needs --trajectories/],
    [
      ["eval", "--trajectories", "weak", "--dataset", "d.jsonl", "--outdir", "x"],
      /--dataset does not go with --trajectories/,
    ],
    [["selection-demo", "--n", "2", "--outdir", "x"], /selection-demo needs --dataset/],
  ])("%j", async (args, says) => {
    expectError(await run(...args), EXIT.usage, says);
  });
});
