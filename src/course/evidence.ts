/** The kinds of runs that levels ask for, each found, held against its inputs, and made again. */

import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ZodType } from "zod";
import { type Knob, sha256 } from "../core/index.ts";
import { gate } from "../gate/index.ts";
import { gateReportSchema, type Run } from "../runs/index.ts";
import type { Answer } from "./child.ts";
import { demand, Gap } from "./gap.ts";
import { sameVerdict } from "./gate-report.ts";
import { PACKAGE_ROOT } from "./init.ts";
import { command, replay } from "./replay.ts";
import type { Room, Version } from "./room.ts";

export const DEV = "data/datasets/math_dev.jsonl";
export const FROZEN = "data/rollouts/frozen_rollouts_dev.jsonl";
export const PACK = "data/rollouts/selection_pack_dev.jsonl";
export const CORRECT = "data/golden/golden_correct.jsonl";
export const EXPLOITS = "data/golden/golden_exploits.jsonl";

/** A data file as this version of Locked Room ships it, at the start and now. */
export async function demandShipped(room: Room, file: string): Promise<void> {
  const shipped = await readFile(path.join(PACKAGE_ROOT, file), "utf8");
  for (const text of [await room.firstVersion(file), await room.read(file)]) {
    demand(text === shipped, {
      expected: `${file} as it was shipped`,
      found: "another content",
      look: `git log --oneline -- ${file}`,
      next: `Remove ${file}, then: ./lockedroom init .`,
    });
  }
}

/** The run read these files, as they are now. */
async function demandInputs(
  room: Room,
  run: Run,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [role, file] of Object.entries(files)) {
    const used = run.manifest.inputs.find((input) => input.role === role);
    demand(used?.sha256 === (await room.sha256(file)), {
      expected: `${file} as ${role} of ${path.relative(room.dir, run.dir)}`,
      found: `${used?.path ?? "nothing"} with other content`,
      look: `${path.relative(room.dir, run.dir)}/manifest.json, inputs`,
    });
  }
}

/** A file of code as it is committed, in a folder where it can be run. */
export async function committedFile(room: Room, file: string): Promise<string> {
  await room.bytes(file);
  demand(await room.isCommitted(file), {
    expected: `${file} committed as it lies here: what is judged is the latest commit`,
    found: (await room.committed()).has(file)
      ? "your changes are not committed"
      : "it is not committed",
    look: "git status",
    commit: true,
  });
  return path.join(await room.tree(room.head), file);
}

/** A file of the workspace as it was when a run used it, in a folder where it can be run. */
export async function committedSource(
  room: Room,
  file: string,
  source: unknown,
  user: string,
): Promise<{ version: Version; path: string }> {
  const version = typeof source === "string" ? await room.versionOf(file, source) : undefined;
  if (version) return { version, path: path.join(await room.tree(version.commit.hash), file) };
  throw new Gap({
    expected: `${user} made with a version of ${file} that is committed`,
    found: source === null ? `${user} did not use it` : "a version that the history does not have",
    look: `git log --oneline -- ${file}`,
    next: `Commit ${file} before you run, then make ${user} again with --force.`,
  });
}

export async function evalRun(room: Room, name: string, dataset: string): Promise<Run> {
  const run = await room.run(name);
  await demandInputs(room, run, { dataset, completions: FROZEN });
  const scorer = await scorerOf(room, run);
  const files = ["--dataset", dataset, "--completions", FROZEN];
  return replay(room, name, command(room, "eval", ...files, "--scorer", scorer));
}

export async function scorerOf(room: Room, run: Run): Promise<string> {
  const { source_sha256: source } = run.manifest.scorer;
  const name = path.relative(room.dir, run.dir);
  return (await committedSource(room, room.config.scorer, source, name)).path;
}

/** A selection run of the shipped packs, with the policy that made it. */
export async function selectionRun(room: Room, name: string, n: number) {
  const run = await room.run(name);
  await demandInputs(room, run, { dataset: DEV, samples: PACK });
  const { selection } = run.manifest;
  demand(selection?.n === n, {
    expected: `runs/${name} to choose among ${n} samples`,
    found: `n = ${selection?.n}`,
    look: `runs/${name}/manifest.json, selection`,
  });
  const policy = await committedSource(
    room,
    room.config.selection_policy,
    selection.source_sha256,
    `runs/${name}`,
  );
  return { run, policy };
}

export async function repeatSelection(room: Room, name: string, n: number) {
  const { run, policy } = await selectionRun(room, name, n);
  const scorer = await scorerOf(room, run);
  const args = ["--dataset", DEV, "--samples", PACK, "--n", String(n)];
  await replay(
    room,
    name,
    command(room, "selection-demo", ...args, "--scorer", scorer, "--policy", policy.path),
  );
  return { run, policy };
}

export interface BanditSettings {
  readonly steps: number;
  readonly seed: number;
  readonly lr: number;
}

export async function banditRun(room: Room, name: string, settings: BanditSettings): Promise<Run> {
  const flags = Object.entries(settings).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  return replay(room, name, command(room, "bandit-train", ...flags, "--baseline"));
}

/** What a learner's function gives for each list of arguments; an error is a gap. */
export async function call(
  room: Room,
  file: string,
  shown: string,
  name: string,
  argumentLists: readonly (readonly unknown[])[],
): Promise<unknown[]> {
  const answers = await room.ask(
    file,
    argumentLists.map((args) => ({ export: name, args })),
  );
  return answers.map((answer, i) => {
    const given = argumentLists[i]?.map((arg) => JSON.stringify(arg)?.slice(0, 60)).join(", ");
    return answered(answer, shown, `${name}(${given})`);
  });
}

/** One exported value of a learner's file. */
export async function exported(room: Room, file: string, shown: string, name: string) {
  const [answer = { error: "no answer" }] = await room.ask(file, [{ export: name }]);
  return answered(answer, shown, name);
}

function answered(answer: Answer, shown: string, name: string): unknown {
  if ("value" in answer) return answer.value;
  throw new Gap({
    expected: `${name} of ${shown} to answer`,
    found: answer.error,
    look: shown,
  });
}

/** Seeds that a learner cannot know in advance, and that are the same until the next commit. */
export function hiddenSeed(room: Room, level: string): string {
  return sha256(`${level} ${room.head}`);
}

/** The rows of a JSONL file of the workspace; a damaged line is named. */
export async function jsonLines<T>(room: Room, file: string): Promise<T[]> {
  const lines = (await room.read(file)).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line, index) => {
    const row = parsed(line);
    demand(typeof row === "object" && row !== null && !Array.isArray(row), {
      expected: "one JSON object on each line",
      found: `line ${index + 1} is ${row === undefined ? "not JSON" : "something else"}`,
      look: `${file}:${index + 1}`,
    });
    return row as T;
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A gate report that was saved, held against what the gate says now. */
export async function savedGate(
  room: Room,
  file: string,
  names: readonly [string, string],
  claim?: Knob,
) {
  const saved = await savedJson(room, file, gateReportSchema);
  const [baseline, candidate] = names.map((name) => room.file(`runs/${name}`)) as [string, string];
  await Promise.all(names.map((name) => room.run(name)));
  const now = await gate({ baseline, candidate, minDelta: 0, ...(claim ? { claim } : {}) });
  demand(sameVerdict(saved, now), {
    expected: `the gate's verdict on runs/${names.join(" and runs/")}: ${now.decision}, ${now.reasons.map(({ code }) => code).join(", ")}`,
    found: `${saved.decision}, ${saved.reasons.map(({ code }) => code).join(", ")}`,
    look: file,
  });
  return now;
}

/** A report that a command wrote, of the shape it should have. */
export async function savedJson<T>(room: Room, file: string, schema: ZodType<T>): Promise<T> {
  const text = await room.read(file);
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new Gap({
      expected: "a report as the command writes it",
      found: "something else, or a damaged file",
      look: file,
      next: `Write ${file} again with its command.`,
    });
  }
}
