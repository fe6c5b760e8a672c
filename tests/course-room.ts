/** A learner's workspace with commits on chosen days, and the work that the plan asks for. */

import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { expect } from "vitest";
import { api, describeRun, EXIT, type Finished, Workspace } from "./cli.ts";

export const START = "2026-03-02";
const DATASET = "data/datasets/math_dev.jsonl";
const PACKS = "data/rollouts/selection_pack_dev.jsonl";

/** Words that no template has. */
export const prose = (count: number): string =>
  Array.from({ length: count }, (_, i) => `thought${i}`).join(" ");

export class PlanRoom extends Workspace {
  /** Made by `init`, with the first commit on the day START. */
  static async make(): Promise<PlanRoom> {
    const room = new PlanRoom();
    const result = await room.run(["init", "."], { env: at(START) });
    expect(result.code, describeRun(result)).toBe(EXIT.ok);
    return room;
  }

  copy(): PlanRoom {
    const copy = new PlanRoom();
    cpSync(this.dir, copy.dir, { recursive: true, verbatimSymlinks: true });
    return copy;
  }

  edit(file: string, from: string | RegExp, to: string): void {
    const before = this.read(file);
    const after = before.replace(from, to);
    expect(after, `${file} has ${from}`).not.toBe(before);
    this.write(file, after);
  }

  commit(day: string): void {
    this.git(["add", "--all"], day);
    this.git([...IDENTITY, "commit", "--quiet", "--allow-empty", "-m", `work of ${day}`], day);
  }

  git(args: readonly string[], day = START): string {
    const env = { ...process.env, ...at(day) };
    return execFileSync("git", args, { cwd: this.dir, env, encoding: "utf8" });
  }

  /** Runs a command as if today were that day. */
  on(day: string, ...args: string[]): Promise<Finished> {
    return this.run(args, { env: { LOCKEDROOM_TODAY: day } });
  }

  async well(...args: string[]): Promise<string> {
    const result = await this.on(START, ...args);
    expect(result.code, describeRun(result)).toBe(EXIT.ok);
    return result.stdout;
  }

  async plan(day = START) {
    const { code, stdout, stderr } = await this.on(day, "plan", "--format", "json");
    expect({ code, stderr }).toEqual({ code: EXIT.ok, stderr: "" });
    return JSON.parse(stdout);
  }

  /** One criterion as the plan sees it now. */
  async criterion(id: string): Promise<Record<string, unknown>> {
    const { phases } = await this.plan();
    return phases
      .flatMap(({ criteria }: { criteria: { id: string }[] }) => criteria)
      .find((one: { id: string }) => one.id === id);
  }

  async evaluate(name: string): Promise<void> {
    const completions = "data/rollouts/frozen_rollouts_dev.jsonl";
    const files = ["--dataset", DATASET, "--completions", completions];
    await this.well("eval", ...files, "--outdir", name);
  }

  async select(name: string, n: number): Promise<void> {
    const files = ["--dataset", DATASET, "--samples", PACKS, "--rule", "best"];
    await this.well("selection-demo", ...files, "--n", String(n), "--outdir", name);
  }

  async compare(baseline: string, candidate: string, report: string): Promise<void> {
    const runs = ["--baseline", baseline, "--candidate", candidate];
    const { code } = await this.run(["gate", ...runs, "--report", report]);
    expect([0, 1, 2, 3]).toContain(code);
  }

  fillNote(run: string): void {
    const note = this.read(run, "README.md");
    const filled = note
      .replace(/(Knob turned[^*]*\*\*|Single change[^*]*\*\*|Failure type[^*]*\*\*).*/g, "$1 none")
      .replace("_yours to write_", "about two thirds would pass")
      .replace(/(Repair plan:\*\*|Next change[^*]*\*\*).*/g, "$1 teach the format before the sums");
    expect(filled).not.toContain("_yours");
    this.write(`${run}/README.md`, filled);
  }

  /** Every row of an evaluation made right by hand, and all that could give it away adjusted. */
  forge(run: string): void {
    const { rows, summary } = this.readRun(run);
    const right = rows.map((row) => ({ ...row, reward: 1, outcome_code: "ok" }));
    const results = right.map((row) => `${api.canonicalJson(row)}\n`).join("");
    this.write(`${run}/results.jsonl`, results);
    const figures = { pass_rate: 1, mean_reward: 1, n_pass: rows.length, n_fail: 0 };
    const forged = {
      ...summary,
      metrics: { ...summary.metrics, ...figures },
      outcomes: { counts: { ok: rows.length } },
      results_sha256: api.sha256(results),
    };
    this.write(`${run}/summary.json`, JSON.stringify(forged));
  }

  /** The run claims another scorer, with a fingerprint that fits. */
  disown(run: string): void {
    const { manifest, summary } = this.readRun(run);
    const other = { ...manifest, scorer: { ...manifest.scorer, source_sha256: "0".repeat(64) } };
    this.write(`${run}/manifest.json`, JSON.stringify(other));
    const fits = { ...summary, manifest_sha256: api.manifestFingerprint(other) };
    this.write(`${run}/summary.json`, JSON.stringify(fits));
  }

  /** Everything that phase 0 asks for. */
  async finishPhase0(): Promise<void> {
    await this.evaluate("runs/baseline");
    this.fillNote("runs/baseline");
    await this.select("runs/one", 1);
    await this.select("runs/four", 4);
    await this.compare("runs/one", "runs/four", "runs/four-gate.json");
  }
}

const IDENTITY = [
  "-c",
  "user.name=A",
  "-c",
  "user.email=a@localhost",
  "-c",
  "commit.gpgsign=false",
];

function at(day: string): Record<string, string> {
  const noon = `${day}T12:00:00`;
  return { GIT_AUTHOR_DATE: noon, GIT_COMMITTER_DATE: noon };
}

export function tooWide(text: string): string[] {
  return text.split("\n").filter((line) => [...line].length > 80);
}
