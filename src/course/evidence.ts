/**
 * Runs and reports as evidence: each is compared with its inputs and produced again. Hashes can be
 * written by hand, but not results that the command would not give.
 */

import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ZodType } from "zod";
import { canonicalJson, type Knob } from "../core/index.ts";
import { gate } from "../gate/index.ts";
import { type GateReport, gateReportSchema, openRun, type Run } from "../runs/index.ts";
import { type CheckContext, CheckFailure, ensure, type Version } from "./check-context.ts";
import type { Finished } from "./child.ts";
import { fileAt, type LearnerFile } from "./learner-code.ts";
import { PACKAGE_ROOT } from "./workspace.ts";

export const DEV = "data/datasets/math_dev.jsonl";
export const FROZEN = "data/rollouts/frozen_rollouts_dev.jsonl";
export const PACK = "data/rollouts/selection_pack_dev.jsonl";
export const CORRECT = "data/golden/golden_correct.jsonl";
export const EXPLOITS = "data/golden/golden_exploits.jsonl";

/** A data file has the shipped content, in the first commit and now. */
export async function checkShipped(context: CheckContext, file: string): Promise<void> {
  const shipped = await readFile(path.join(PACKAGE_ROOT, file), "utf8");
  for (const text of [await context.firstVersion(file), await context.read(file)]) {
    ensure(text === shipped, {
      expected: `${file} as it was shipped`,
      found: "other content",
      where: `git log --oneline -- ${file}`,
      next: `Remove ${file}, then: ./lockedroom init .`,
    });
  }
}

/** A file of the workspace in the version that a run used, in a folder where it can be run. */
export async function committedSource(
  context: CheckContext,
  name: string,
  source: unknown,
  user: string,
): Promise<{ version: Version; file: LearnerFile }> {
  const version = typeof source === "string" ? await context.versionOf(name, source) : undefined;
  if (version) return { version, file: await fileAt(context, version.commit.hash, name) };
  throw new CheckFailure({
    expected: `${user} made with a committed version of ${name}`,
    found: source === null ? `${user} did not use it` : "a version that is not in the history",
    where: `git log --oneline -- ${name}`,
    next: `Commit ${name} before you run, then make ${user} again with --force.`,
  });
}

/** The run read these files with their current content. */
async function checkInputs(
  context: CheckContext,
  run: Run,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const name = path.relative(context.dir, run.dir);
  for (const [role, file] of Object.entries(files)) {
    const used = run.manifest.inputs.find((input) => input.role === role);
    ensure(used?.sha256 === (await context.sha256(file)), {
      expected: `${file} as ${role} of ${name}`,
      found: `${used?.path ?? "nothing"} with other content`,
      where: `${name}/manifest.json, inputs`,
    });
  }
}

async function scorerOf(context: CheckContext, run: Run): Promise<string> {
  const { source_sha256: source } = run.manifest.scorer;
  const name = path.relative(context.dir, run.dir);
  return (await committedSource(context, context.config.scorer, source, name)).file.path;
}

/** An evaluation of the frozen completions. */
export async function evalRun(context: CheckContext, name: string, dataset: string): Promise<Run> {
  const run = await context.run(name);
  await checkInputs(context, run, { dataset, completions: FROZEN });
  const files = ["--dataset", dataset, "--completions", FROZEN];
  const scorer = await scorerOf(context, run);
  return replay(context, name, command(context, "eval", ...files, "--scorer", scorer));
}

/** A selection run of the shipped packs, with the selection policy that made it. */
export async function selectionRun(context: CheckContext, name: string, n: number) {
  const run = await context.run(name);
  await checkInputs(context, run, { dataset: DEV, samples: PACK });
  const { selection } = run.manifest;
  ensure(selection?.n === n, {
    expected: `runs/${name} to select among ${n} samples`,
    found: `n = ${selection?.n}`,
    where: `runs/${name}/manifest.json, selection`,
  });
  const { selection_policy: file } = context.config;
  const source = selection.source_sha256;
  return { run, policy: await committedSource(context, file, source, `runs/${name}`) };
}

export async function repeatSelection(context: CheckContext, name: string, n: number) {
  const { run, policy } = await selectionRun(context, name, n);
  const files = ["--dataset", DEV, "--samples", PACK, "--n", String(n)];
  const code = ["--scorer", await scorerOf(context, run), "--policy", policy.file.path];
  await replay(context, name, command(context, "selection-demo", ...files, ...code));
  return { run, policy };
}

export interface BanditSettings {
  readonly steps: number;
  readonly seed: number;
  readonly lr: number;
}

export async function banditRun(context: CheckContext, name: string, settings: BanditSettings) {
  const flags = Object.entries(settings).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  return replay(context, name, command(context, "bandit-train", ...flags, "--baseline"));
}

// --- repeating a run --------------------------------------------------------------------------------

/** Writes the run again, to the folder it is given. */
export type Repeat = (outdir: string) => Promise<Finished>;

/** Repeats a command of Locked Room, given without --outdir. */
export function command(context: CheckContext, ...args: readonly string[]): Repeat {
  return (outdir) => context.command(...args, "--outdir", outdir);
}

/** The parts of a summary that the same command must give again; charts are left out. */
function repeatable({ summary }: Run): Record<string, unknown> {
  const { metrics, outcomes, alarms, results_sha256, manifest_sha256, files } = summary;
  return { metrics, outcomes, alarms, results_sha256, manifest_sha256, log: files["log.jsonl"] };
}

/** Makes a run again and compares the two. */
export async function replay(context: CheckContext, name: string, repeat: Repeat): Promise<Run> {
  const run = await context.run(name);
  const outdir = context.scratch();
  const { code, stderr, stopped } = await repeat(outdir);
  ensure(code === 0 && stopped === undefined, {
    expected: `the command of runs/${name} to work again`,
    found:
      stopped ?? (stderr.trim().split("\n").slice(0, 2).join(" ") || "an error without a message"),
    where: `runs/${name}/manifest.json`,
  });
  const again = await openRun(outdir);
  const [was, is] = [repeatable(run), repeatable(again)];
  const other = Object.keys(was).filter(
    (key) =>
      canonicalJson((was[key] ?? null) as never) !== canonicalJson((is[key] ?? null) as never),
  );
  ensure(other.length === 0, () => ({
    expected: `runs/${name} to hold what its command gives`,
    found: `other ${other.join(", ")} when the command was run again${otherVersion(run, again)}`,
    where: `runs/${name}/summary.json`,
    next: `Run the command of runs/${name} again, with --force.`,
  }));
  return run;
}

function otherVersion(run: Run, again: Run): string {
  const [was, is] = [run, again].map(({ manifest }) => manifest.volatile.lockedroom);
  return was === is ? "" : ` (it was made by lockedroom ${was}, this is ${is})`;
}

/** The runs were made one after the other, in this order. */
export async function checkOrder(context: CheckContext, names: readonly string[]): Promise<void> {
  for (const [i, name] of names.slice(1).entries()) {
    const before = names[i] as string;
    const [first, second] = await Promise.all([context.run(before), context.run(name)]);
    const [a, b] = [first, second].map(({ manifest }) => manifest.volatile.started_at);
    ensure(Date.parse(a ?? "") < Date.parse(b ?? ""), {
      expected: `runs/${name} to be made after runs/${before}`,
      found: a === b ? "the same start time for both, as in a copy" : `${b} and ${a}`,
      where: `runs/${name}/manifest.json, volatile.started_at`,
      next: `Run the command of runs/${name} again, with --force.`,
    });
  }
}

// --- saved files ------------------------------------------------------------------------------------

/** The rows of a JSONL file of the workspace. */
export async function jsonLines<T>(context: CheckContext, file: string): Promise<T[]> {
  const lines = (await context.read(file)).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line, index) => {
    const row = parseJson(line);
    ensure(typeof row === "object" && row !== null && !Array.isArray(row), {
      expected: "one JSON object on each line",
      found: `line ${index + 1} is ${row === undefined ? "not JSON" : "not an object"}`,
      where: `${file}:${index + 1}`,
    });
    return row as T;
  });
}

/** Undefined for text that is not JSON. */
export function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A report that a command wrote, with the right shape. */
export async function savedJson<T>(context: CheckContext, file: string, schema: ZodType<T>) {
  const { success, data } = schema.safeParse(parseJson(await context.read(file)));
  if (success) return data;
  throw new CheckFailure({
    expected: "a report as the command writes it",
    found: "something else, or a damaged file",
    where: file,
    next: `Write ${file} again with its command.`,
  });
}

/** A saved gate report that agrees with what the gate says now. */
export async function savedGate(
  context: CheckContext,
  file: string,
  names: readonly [string, string],
  claim?: Knob,
) {
  const saved = await savedJson(context, file, gateReportSchema);
  const [one, two] = await Promise.all(names.map((name) => context.run(name)));
  const runs = { baseline: one?.dir ?? "", candidate: two?.dir ?? "" };
  const now = await gate({ ...runs, minDelta: 0, ...(claim ? { claim } : {}) });
  ensure(sameVerdict(saved, now), {
    expected: `the gate's verdict on runs/${names.join(" and runs/")}: ${verdictText(now)}`,
    found: verdictText(saved),
    where: file,
  });
  return now;
}

export function verdictText({ decision, reasons }: GateReport): string {
  return `${decision}: ${reasons.map(({ code }) => code).join(", ")}`;
}

/** Paths of the runs and resampled bounds may differ; the decision and its reasons may not. */
export function sameVerdict(a: GateReport, b: GateReport): boolean {
  const verdict = ({ decision, comparable, knobs, claim, reasons, delta }: GateReport) =>
    canonicalJson({ decision, comparable, knobs, claim, reasons, delta });
  return verdict(a) === verdict(b);
}
