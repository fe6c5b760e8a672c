/** `train --env` and `sweep --env` as a person uses them: a game in a file, no data set, no scorer. */

import { expect, test } from "vitest";
import { DEV, describeRun, EXIT, expectError, Workspace } from "./cli.ts";

const room = new Workspace();

/** Asks twice for a number; a digit pays. */
room.write(
  "game.ts",
  `export default {
  name: "digits", version: "1", spec: "Say a digit, twice.", codes: ["done"], solved: ["done"],
  rewards: [0, 2], maxTurns: 4, random: false,
  tasks: (split) => [0, 1, 2, 3, 4, 5].map((i) => ({ id: split + i, prompt: split + " " + i })),
  reset: () => ({ state: { turn: 0 }, observation: [{ role: "user", content: "1+1=" }], reward: 0 }),
  step: ({ turn }, { text }) => ({
    state: { turn: turn + 1 },
    observation: [{ role: "user", content: "2+2=" }],
    reward: /[0-9]/.test(text) ? 1 : 0,
    metrics: { tool_errors: /[0-9]/.test(text) ? 0 : 1 },
    ...(turn === 1 && { end: { code: "done", terminated: true, details: {} } }),
  }),
  players: { idle: () => "" },
  ansi: () => "",
};
`,
);

const TINY = [
  ...["--init", "pi0", "--steps", "2", "--eval-every", "1", "--set", "evaluate.max_tokens=8"],
  ...["--set", "rollouts.prompts=2", "--set", "rollouts.group=2", "--set", "rollouts.max_tokens=8"],
];
const inGame = (...args: string[]) => room.run([...args, "--env", "game.ts", ...TINY]);

test.each(["grpo", "ppo", "rloo", "reinforce", "rft"])(
  "%s learns in an environment",
  async (name) => {
    const method = name === "rft" ? ["--set", "algorithm.samples=2"] : [];
    const done = await inGame("train", name, "--outdir", name, ...method);
    expect(done, describeRun(done)).toMatchObject({ code: EXIT.ok });
    expect(done.stderr).toMatch(
      /validation at step 0 .*reward [\d.]+; 2\.0 turns, [\d.]+ tool errors/s,
    );
    expect(done.stdout).toContain("--env game.ts --split holdout");
    const manifest = JSON.parse(room.read(`${name}/manifest.json`));
    expect(manifest).toMatchObject({
      environment: { name: "digits", path: "game.ts" },
      inputs: [
        { split: "train", rows: 6 },
        { split: "dev", rows: 6 },
      ],
    });
    const [sample] = room.read(`${name}/samples.jsonl`).split("\n");
    expect(JSON.parse(sample ?? "").messages.map(({ role }: { role: string }) => role)).toEqual([
      ...["user", "assistant", "user", "assistant", "user"],
    ]);
  },
);

test("the tasks learned from count as learned, those of the holdout split do not", async () => {
  const exposed = async (split: string) => {
    const done = await room.run([
      ...["rollout", "--env", "game.ts", "--split", split, "--policy", "grpo/checkpoint"],
      ...["--n", "1", "--max-tokens", "8", "--outdir", split],
    ]);
    expect(done, describeRun(done)).toMatchObject({ code: EXIT.ok });
    const { exposure } = JSON.parse(room.read(`${split}/manifest.json`));
    return [exposure.learned.rows, exposure.validated.rows];
  };
  expect(await exposed("train")).toEqual([6, 0]);
  expect(await exposed("dev")).toEqual([0, 6]);
  expect(await exposed("holdout")).toEqual([0, 0]);
});

test("sweep validates on dev tasks, as train does", async () => {
  const done = await inGame("sweep", "grpo", "--over", "rate.peak=0,0.01", "--outdir", "sw");
  expect(done, describeRun(done)).toMatchObject({ code: EXIT.ok });
  const { points } = JSON.parse(room.read("sw/sweep.json"));
  expect(points).toHaveLength(2);
  const none = await inGame(
    "sweep",
    "grpo",
    "--over",
    "rate.peak=0,0.01",
    "--outdir",
    "no",
    "--set",
    "evaluate.tasks=0",
  );
  expectError(none, EXIT.usage, "no validation set");
});

test.each<[string, string[], string[]]>([
  ["a file is learned from", ["train", "sft", "--env", "game.ts"], ["sft learns from a file"]],
  ["dpo", ["train", "dpo", "--env", "game.ts", "--dataset", DEV], ["dpo learns from a file"]],
  ["no reward", ["train", "grpo", "--env", "support-replies"], ["no rewards of its own"]],
  [
    "a scorer",
    ["train", "grpo", "--env", "game.ts", "--scorer", "math_final_line"],
    ["--scorer was given too"],
  ],
  [
    "a cost scorer",
    ["train", "grpo", "--env", "game.ts", "--cost-scorer", "math_final_line"],
    ["--cost-scorer was given too"],
  ],
  ["no data", ["train", "grpo"], ["grpo has no training data", "--env NAME"]],
])("refused: %s", async (_, args, says) => {
  expectError(await room.run([...args, "--init", "pi0", "--outdir", "unset"]), EXIT.usage, ...says);
  expect(room.has("unset")).toBe(false);
});
