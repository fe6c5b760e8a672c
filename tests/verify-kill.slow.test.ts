/** A verification that was killed leaves nothing behind, and the same command afterwards succeeds. */

import { expect, test } from "vitest";
import { Workspace } from "./cli.ts";

/** Slow on purpose: 30 rows, eight at once, three times each. */
const SLOW_SCORER = `export const name = "slow";
export const version = "1";
export const spec = "1 after a while";
export const score = (_example: unknown, completion: string) =>
  new Promise((resolve) =>
    setTimeout(() => resolve({ reward: 1, code: completion, details: {} }), 150));
`;

test.each(["SIGKILL", "SIGTERM"] as const)("%s in the middle of scoring again", async (signal) => {
  const workspace = new Workspace();
  const ids = Array.from({ length: 30 }, (_, i) => `e${i}`);
  workspace.jsonl(
    "d.jsonl",
    ids.map((id) => ({ id, prompt: `Compute ${id}.` })),
  );
  workspace.jsonl(
    "c.jsonl",
    ids.map((id) => ({ id, completion: id })),
  );
  workspace.write("slow.ts", SLOW_SCORER);
  await workspace.made("run", ["--scorer", "slow.ts"]);
  const before = workspace.snapshot("run");
  const running = workspace.start(["verify", "run", "--only", "score"]);
  setTimeout(() => running.child.kill(signal), 1200);
  expect((await running.finished).signal).toBe(signal);
  expect(workspace.snapshot("run")).toEqual(before);
  const done = await workspace.run(["verify", "run", "--only", "score"]);
  expect(done, done.stderr).toMatchObject({ code: 0, stderr: "" });
  const { "verification.json": text = "", ...after } = workspace.snapshot("run");
  expect(after).toEqual(before);
  expect(JSON.parse(text)).toMatchObject({ result: "partly_verified" });
});
