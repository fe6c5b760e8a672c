/** What the pages about episodes say: of the rollout itself, and of its evaluation. */

import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { episodeRoom } from "../../../tests/episode-runs.ts";
import { openPlayable } from "../../environments/playable.ts";
import { evaluateTrajectories } from "../../loops/eval-trajectories.ts";
import { report } from "../report.ts";

const room = episodeRoom();
const HOSTILE = "<script>document.title = 1</script>\u001b[31m\u200b";
const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/[\s\u00a0]+/g, " ");
const pageOf = async (...runs: string[]) => (await report({ runs })).html;

let rollout = "";
let run = "";
let game = "";
beforeAll(async () => {
  const failed = { id: "tool-1", sample: 1, type: "timeout", message: "no answer <b>" };
  const environment = await openPlayable("tool-calls");
  const id = (await environment.tasks("dev"))[0]?.id as string;
  rollout = await room.rollout("rollout", {
    ...{ env: "tool-calls", tasks: 12, n: 2, failures: [{ ...failed, id }] },
    player: (place, sample) => (sample === 0 ? "gold" : place < 6 ? "idle" : () => HOSTILE),
    edit: (one) => (one.id === id && one.sample === 1 ? undefined : one),
  });
  run = room.path("run");
  await evaluateTrajectories({ trajectories: rollout, environment, outdir: run });
  game = await room.rollout("game", { env: "twenty48", tasks: 1 });
});

describe.each([
  ["of the evaluation", () => run, "Evaluation report: run", "23 episodes"],
  ["of the rollout", () => rollout, "Rollout report: rollout", "23 episodes of 12 tasks"],
])("the page %s", (_, dir, title, what) => {
  test("tells rates, codes, metrics and what failed", async () => {
    const text = textOf(await pageOf(dir()));
    expect(text).toContain(title);
    expect(text).toContain(
      what.replace("23 episodes", title.startsWith("Eval") ? "24 episodes" : "23 episodes"),
    );
    expect(text).toMatch(/Pass rate 52\.2 % .* 12 of 23/);
    expect(text).toMatch(/solved (passes|solved) 12 /);
    expect(text).toMatch(/turns 1\.\d+ \(1 to 2\)/);
    expect(text).toContain("unsafe_calls 0 (0 to 0)");
    expect(text).toMatch(/1 rollout failed.* timeout: no answer/);
    expect(text).toMatch(/completions \d+ turns of 23 episodes/);
    expect(text).not.toContain("for each example");
  });

  test("has whole conversations behind a line, with the reward of each turn", async () => {
    const html = await pageOf(dir());
    expect(html).toMatch(/<details class="conversation"><summary>2 messages<\/summary>/);
    expect(textOf(html)).toContain("assistant · turn 1 · reward 1");
    expect(textOf(html)).toMatch(/reward 1 \(turn 2: 1\), 2 turns/);
  });

  test("shows hostile text as text, runs nothing, and is the same bytes again", async () => {
    const html = await pageOf(dir());
    expect(html).not.toMatch(/<script/);
    expect(html).toContain("&lt;script&gt;document.title");
    expect(html).toContain("⟨U+001B⟩");
    expect(html).toContain("⟨U+200B⟩");
    expect(await pageOf(dir())).toBe(html);
  });
});

test("a long game is shortened in the middle", async () => {
  const text = textOf(await pageOf(game));
  expect(text).toMatch(/\d+ messages are left out\./);
  expect(text).toMatch(/assistant · turn 1 · .*assistant · turn \d{2} · reward 2/);
});

test("an edited rollout is said to be edited; completions and episodes have their own pages", async () => {
  const copy = await room.rollout("copy", { env: "tool-calls", tasks: 2 });
  expect(textOf(await pageOf(copy))).not.toContain("Warning.");
  const file = `${copy}/trajectories.jsonl`;
  writeFileSync(
    file,
    readFileSync(file, "utf8").replaceAll('"code":"solved"', '"code":"wrong_tool"'),
  );
  expect(textOf(await pageOf(copy))).toMatch(
    /Edited after the run wrote it: .*trajectories\.jsonl/,
  );
  await expect(report({ runs: [rollout, run] })).rejects.toThrow(
    /is a rollout, and .* an evaluation/,
  );
});
