/** Conversations in the terminal: whole, within 80 columns, nothing invisible. */

import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { episodeRoom } from "../../tests/episode-runs.ts";
import { columns } from "../core/visible.ts";
import { openPlayable } from "../environments/playable.ts";
import { evaluateTrajectories } from "../loops/eval-trajectories.ts";
import { conversationOf } from "../report/conversation.ts";
import { findRows } from "../report/inspect.ts";
import { openRun } from "../runs/reader.ts";
import { inspectRollout, printConversations } from "./inspect-episodes.ts";

const room = episodeRoom();
const LONG = `{"tool": "send_message", "arguments": {"to": "anna", "text": "${"word ".repeat(60)}"}}`;
let rollout = "";
let run = "";
beforeAll(async () => {
  rollout = await room.rollout("rollout", {
    ...{ env: "tool-calls", tasks: 4, n: 2 },
    player: (place, sample) => {
      if (sample === 0) return "gold";
      return () => (place === 1 ? LONG : `not JSON\u001b[31m${"x".repeat(100)}`);
    },
  });
  run = room.path("run");
  const environment = await openPlayable("tool-calls");
  await evaluateTrajectories({ trajectories: rollout, environment, outdir: run });
});

afterEach(() => vi.restoreAllMocks());

/** What is printed, line by line. */
async function printed(work: () => Promise<void> | void): Promise<string> {
  let text = "";
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  await work();
  vi.restoreAllMocks();
  return text;
}

function expectReadable(text: string): void {
  for (const line of text.split("\n")) expect(columns(line), line).toBeLessThanOrEqual(80);
  expect(text).not.toContain("\u001b");
}

describe("inspect-run", () => {
  test("on a rollout: rates, metrics, codes, and conversations in lines", async () => {
    const text = await printed(() => inspectRollout({ run: rollout, show: 2 }));
    expectReadable(text);
    expect(text.replaceAll(/\s+/g, " ")).toContain(
      "8 episodes of a rollout in tool-calls 1.0.0, as recorded.",
    );
    expect(text).toContain("pass rate    0.5000  4 of 8");
    expect(text).toMatch(/^ {2}turns +1/m);
    expect(text).toMatch(/^solved {2}4 episodes, 50\.0 % .* solved$/m);
    expect(text).toMatch(/^invalid_json {2}3 episodes/m);
    expect(text).toContain("not JSON⟨U+001B⟩");
    const fails = await printed(() => inspectRollout({ run: rollout, show: 1, onlyFails: true }));
    expect(fails).not.toMatch(/^solved {2}/m);
  });

  test("with --id: every message of a task's episodes, with roles and rewards", async () => {
    const [id] = (await (await openPlayable("tool-calls")).tasks("dev")).slice(1).map((t) => t.id);
    const whole = await printed(() => inspectRollout({ run: rollout, id: id as string }));
    expectReadable(whole);
    expect(whole.split("details")[0]?.match(/word/g)).toHaveLength(60);
    expect(whole).toMatch(/sample 2 of 2/);
    expect(whole).toMatch(/^user$/m);
    expect(whole).toMatch(/^assistant, turn 1, reward -?[\d.]+$/m);
    const rows = await findRows(await openRun(run), id as string);
    const ofRun = await printed(() =>
      printConversations(rows.map((row) => conversationOf(row)).filter((one) => one !== undefined)),
    );
    expect(ofRun).toBe(whole);
  });

  test("on a file that names no environment: rewards, and no pass rate", async () => {
    const bare = room.path("bare");
    mkdirSync(bare);
    copyFileSync(path.join(rollout, "trajectories.jsonl"), path.join(bare, "trajectories.jsonl"));
    const text = await printed(() => inspectRollout({ run: bare, show: 1 }));
    expectReadable(text);
    expect(text.replaceAll(/\s+/g, " ")).toContain("8 episodes of an environment that the file");
    expect(text).toContain("--env NAME");
    expect(text).not.toContain("pass rate  ");
    expect(text).toContain("mean reward");
  });

  test("names a task that it has no episode of", async () => {
    await expect(inspectRollout({ run: rollout, id: "nobody" })).rejects.toThrow(
      /has no episode of the task "nobody"/,
    );
  });
});
