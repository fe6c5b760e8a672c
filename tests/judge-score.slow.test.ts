/** `judge score` at the terminal, with the embedded judge over HTTP, up to the gate. */

import { cpSync, readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { EXIT, type Finished, Workspace } from "./cli.ts";
import { episodeRoom, type RolloutParts } from "./episode-runs.ts";
import { writeJudgeAudit } from "./judge-audit-folder.ts";
import { tooWide } from "./width.ts";

const at = new Workspace();
const room = episodeRoom();
beforeAll(async () => {
  const make = async (name: string, parts: Partial<RolloutParts>) => {
    const all = { env: "support-replies", tasks: 24, policy: name, ...parts };
    cpSync(await room.rollout(name, all), at.path(name), { recursive: true });
  };
  await make("old", { player: (place) => (place % 3 === 0 ? "gold" : "idle") });
  await make("new", { player: (place) => (place % 8 === 7 ? "idle" : "gold") });
});

const score = (...flags: string[]): Promise<Finished> =>
  at.run(["judge", "score", "--judge", "embedded", ...flags]);
const compare = (outdir: string, ...more: string[]) =>
  score("--trajectories", "new", "--against", "old", "--outdir", outdir, ...more);
const bytes = (...names: string[]) => readFileSync(at.path(...names));

test("two rollouts are compared, and the gate promotes by an audited judge alone", async () => {
  const judged = await compare("judged");
  expect(judged).toMatchObject({ code: EXIT.ok });
  expect(judged.stdout).toMatch(/preferred {3}candidate \d+, baseline \d+, tied \d+/);
  expect(judged.stdout).toMatch(/win rate {4}\d\.\d{4} of \d+ not tied, 95 % interval/);
  expect(tooWide(judged.stdout)).toEqual([]);
  const sides = ["--baseline", "judged/baseline", "--candidate", "judged/candidate"];
  const gate = (...more: string[]) => at.run(["gate", ...sides, "--claim", "policy", ...more]);
  const alone = await gate();
  expect([alone.code, tooWide(alone.stdout)]).toEqual([2, []]);
  expect(alone.stdout).toContain("judge_not_audited");
  expect(alone.stdout.replaceAll(/\s+/g, " ")).toContain("judge-audit --judge embedded --outdir");
  const { judge } = JSON.parse(at.read("judged", "candidate", "manifest.json"));
  await writeJudgeAudit(at.path("audit"), judge.identity);
  const audited = await gate("--judge-audit", "audit");
  expect(audited.stdout).toMatch(/^PROMOTE/);
  expect(audited.stdout).toContain("trusted by the audit in audit");
  await writeJudgeAudit(at.path("biased"), judge.identity, { length: 0.3 });
  const biased = await gate("--judge-audit", "biased");
  expect([biased.code, biased.stdout.includes("judge_not_trusted")]).toEqual([2, true]);
});

test("a repetition from the cache makes no request and gives the same bytes", async () => {
  expect(await compare("first")).toMatchObject({ code: EXIT.ok });
  const again = await compare("second");
  expect(again.stdout).toMatch(/0 requests, 24 answers from the cache/);
  for (const side of ["baseline", "candidate"])
    for (const name of ["results.jsonl", "judgements.jsonl", "summary.json"])
      expect(bytes("second", side, name)).toEqual(bytes("first", side, name));
});

test("a finished run is not replaced without --force, nor another command's run written into", async () => {
  expect(await compare("twice")).toMatchObject({ code: EXIT.ok });
  const refused = await compare("twice");
  expect([refused.code, refused.stdout]).toEqual([EXIT.usage, ""]);
  expect(refused.stderr).toContain("already holds a finished evaluation");
  expect(await compare("twice", "--force")).toMatchObject({ code: EXIT.ok });
  const inside = await compare("old");
  expect(inside).toMatchObject({ code: EXIT.usage });
  expect(inside.stderr).toContain("which another command wrote");
});

test("an interrupted judging leaves nothing that looks finished, and can be repeated", async () => {
  const args = ["judge", "score", "--trajectories", "new", "--outdir", "slow"];
  const { child, finished } = at.start([...args, "--judge", "embedded:timeout", "--no-cache"]);
  const isClaimed = () => at.has("slow", "judgements.jsonl.partial");
  for (let i = 0; i < 500 && !isClaimed(); i++) await new Promise((go) => setTimeout(go, 20));
  expect(isClaimed()).toBe(true);
  const beside = await at.run([...args, "--judge", "embedded"]);
  expect(beside).toMatchObject({ code: EXIT.usage });
  expect(beside.stderr).toContain("slow");
  child.kill("SIGINT");
  const { stderr, signal } = await finished;
  expect([signal, stderr.includes("run the same command again")]).toEqual(["SIGINT", true]);
  expect(at.has("slow", "summary.json")).toBe(false);
  const again = await at.run([...args, "--judge", "embedded"]);
  expect([again.code, tooWide(again.stdout)]).toEqual([EXIT.ok, []]);
  const shown = await at.run(["inspect-run", "--run", "slow"]);
  expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain("the rewards are its scores");
  expect(shown.stdout).toContain("judge> ");
  expect(tooWide(shown.stdout)).toEqual([]);
});

test("what is missing or does not fit is said in a sentence", async () => {
  const common = ["--trajectories", "new", "--outdir", "bad"];
  const [without, env, unknown] = [
    await at.run(["judge", "score", ...common]),
    await score(...common, "--env", "tool-calls"),
    await at.run(["judge", "score", ...common, "--judge", "oracle"]),
  ];
  expect([without.code, without.stderr]).toEqual([
    EXIT.usage,
    expect.stringContaining("judge score needs --judge"),
  ]);
  expect([env.code, env.stderr]).toEqual([
    EXIT.usage,
    expect.stringContaining("--env needs --against"),
  ]);
  expect([unknown.code, unknown.stderr]).toEqual([
    EXIT.usage,
    expect.stringContaining("unknown kind of judge: oracle"),
  ]);
  expect(at.has("bad")).toBe(false);
});
