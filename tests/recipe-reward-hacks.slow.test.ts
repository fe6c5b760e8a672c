/** The recipe of reward hacks in a few steps: a start policy from scripted play, and a judged update. */

import { rmSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import { lockedroom, readLines, runFolder } from "../recipes/lib.mjs";
// @ts-expect-error plain JavaScript
import { GAMES } from "../recipes/reward-hacks/games.mjs";
// @ts-expect-error plain JavaScript
import { startSettings } from "../recipes/reward-hacks/start-settings.mjs";
// @ts-expect-error plain JavaScript
import { makeStart, startOf, storedStart } from "../recipes/start-policy.mjs";
import { loadCheckpoint } from "../src/policy/checkpoint.ts";
import { ROOT } from "./cli.ts";

const WORK = path.join("smoke", "reward-hacks");
const LIMIT_MS = 120_000;
afterAll(() => rmSync(path.join(ROOT, "runs/recipes", WORK), { recursive: true, force: true }));

test("a start policy is made from scripted play", { timeout: LIMIT_MS }, async () => {
  const few = { ...(await startSettings({ share: 0.01, steps: 2 })), name: WORK, threads: 1 };
  const { checkpoint } = await makeStart(few);
  const made = await loadCheckpoint(path.join(ROOT, checkpoint));
  const stored = await loadCheckpoint(path.join(ROOT, storedStart("reward-hacks")));
  const shape = { ...stored.architecture, vocabulary: made.architecture.vocabulary };
  expect(made.architecture).toEqual(shape);
});

interface Game {
  readonly name: string;
  readonly env: string;
  readonly labels: string;
  readonly naive: { readonly judge: string; readonly rubric: string };
  readonly maxTokens?: number;
}

/** One whose labels are its own, and one whose labels are those of another environment. */
const TRIED = ["headlines", "support-replies"];

test.each<Game>(GAMES.filter(({ name }: Game) => TRIED.includes(name)))(
  "$name: an update by the naive judge, validated by labels",
  { timeout: LIMIT_MS },
  ({ name, env, labels, naive, maxTokens = 32 }) => {
    const start = startOf("reward-hacks", path.join(WORK, name));
    const run = runFolder(WORK, name, "naive");
    lockedroom(
      ...["train", "grpo", "--quiet", "--env", env, "--init", start, "--outdir", run, "--steps", 1],
      ...["--config", "recipes/reward-hacks/recipe.yaml", "--eval-every", 1],
      ...(labels === env ? [] : ["--validation-env", labels]),
      ...["--judge", naive.judge, "--rubric", naive.rubric, "--no-cache"],
      ...["rollouts.prompts=2", "rollouts.group=4", "evaluate.tasks=6"].flatMap((one) => [
        "--set",
        one,
      ]),
      ...["--set", `rollouts.max_tokens=${maxTokens}`, "--set", `evaluate.max_tokens=${maxTokens}`],
    );
    const [before, after] = readLines(run, "evaluations.jsonl");
    // The initial policy beside itself: neither is better.
    expect([before.judge.win_rate, before.labels.win_rate]).toEqual([0.5, 0.5]);
    expect(after.judge.groups).toBe(6);
    expect(after.judge.dropped).toBe(0);
  },
);
