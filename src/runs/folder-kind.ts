/** What a folder holds: which kind of run in which state, or what else; and refusing the wrong one. */

import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { JOURNAL, MANIFEST, SUMMARY } from "./artifacts.ts";
import { type Claim, readClaim } from "./claim.ts";
import { aRun, describeKind, isRunKind, kindOfRecord, nextStep, type RunKind } from "./kinds.ts";
import { wholeFolder } from "./replace-folder.ts";
import { refusePipe, toObject } from "./whole-file.ts";

export type RunState = "running" | "interrupted" | "finished";

export interface FolderContent {
  readonly kind: RunKind | undefined;
  /** Undefined when nothing says that this is a run. */
  readonly state: RunState | undefined;
  /** Undefined where it is missing, or no JSON object. */
  readonly manifest: JsonObject | undefined;
  /** Undefined where it is missing, or not one of ours. */
  readonly summary: JsonObject | undefined;
  readonly claim: Claim | undefined;
}

export async function contentOf(dir: string): Promise<FolderContent> {
  const manifest = await readObject(path.join(dir, MANIFEST));
  const found = await readObject(path.join(dir, SUMMARY));
  const summary = String(found?.schema).startsWith("lockedroom.") ? found : undefined;
  const claim = await readClaim(dir);
  const journal = existsSync(path.join(dir, JOURNAL)) ? "rollout" : undefined;
  const kind = kindOfRecord(summary) ?? kindOfRecord(manifest) ?? journal ?? claim?.kind;
  return { kind, state: stateOf(kind, summary, claim), manifest, summary, claim };
}

/** A finished run that is being replaced counts as running. */
function stateOf(
  kind: RunKind | undefined,
  summary: JsonObject | undefined,
  claim: Claim | undefined,
): RunState | undefined {
  if (claim?.writer !== undefined) return "running";
  if (summary) return "finished";
  return kind || claim ? "interrupted" : undefined;
}

/** Undefined for what is missing, half-written, or no JSON object. */
async function readObject(file: string): Promise<JsonObject | undefined> {
  await refusePipe(file);
  return readFile(file, "utf8").then(toObject, () => undefined);
}

/** Folders that are no runs, each recognised by a file. */
const OTHERS = {
  sweep: {
    file: "sweep.json",
    what: "a sweep",
    next: (dir: string) => `Name its training runs: report --run ${path.join(dir, "*/")}`,
  },
  matrix: {
    file: "matrix.json",
    what: "a matrix",
    next: (dir: string) =>
      `Write its page with report --run ${dir}, or name one of its runs, ${path.join(dir, "PROMPT.MODEL", "run")}.`,
  },
  adapter: {
    file: "adapter_config.json",
    what: "an adapter",
    next: (dir: string) => `Merge it into its policy: policy merge CHECKPOINT ${dir} --outdir NEW`,
  },
  checkpoint: {
    file: "config.json",
    what: "a checkpoint",
    next: (dir: string) => `Describe it with policy show ${dir}, or sample from it with rollout.`,
  },
} as const;

export type FolderKind = RunKind | keyof typeof OTHERS;

/** Runs of scored rows, which inspect-run shows and gate compares. */
export const SCORED: readonly RunKind[] = ["eval", "select", "experiment"];

function kindIn(dir: string, { kind }: FolderContent): FolderKind | undefined {
  const folder = wholeFolder(dir);
  const names = Object.keys(OTHERS) as (keyof typeof OTHERS)[];
  return kind ?? names.find((name) => existsSync(path.join(folder, OTHERS[name].file)));
}

/** Refuses what is no folder, or is one of another kind than those wanted. */
export async function requireKind(
  dir: string,
  wanted: readonly FolderKind[],
): Promise<FolderContent> {
  const folder = statSync(wholeFolder(dir), { throwIfNoEntry: false });
  if (!folder)
    throw dataError(`there is no run at ${dir}`, "Check the path, or make the run first.");
  if (!folder.isDirectory())
    throw dataError(`${dir} is a file, not a run folder`, "Name the folder.");
  const content = await contentOf(dir);
  const found = kindIn(dir, content);
  if (found === undefined || wanted.includes(found)) return content;
  throw wrongKind(dir, found, content, wantedName(wanted));
}

/** Refuses a folder that is not wanted to be one at all. */
export async function refuseFolder(dir: string): Promise<void> {
  const content = await contentOf(dir);
  const found = kindIn(dir, content);
  if (found) throw wrongKind(dir, found, content, "a file");
}

/** Refuses a run that has no summary yet. */
export function requireFinished(dir: string, { summary, state, kind }: FolderContent): void {
  if (summary !== undefined || existsSync(path.join(dir, SUMMARY))) return;
  if (state === "running") {
    throw dataError(
      `the run ${dir} is unfinished: it is still being written`,
      "Wait for it to end.",
    );
  }
  throw dataError(
    `the run ${dir} is unfinished: it has no ${SUMMARY}`,
    kind && describeKind(kind).resumesFrom && !describeKind(kind).continues
      ? "It was interrupted. Run its command again with --resume."
      : "It was interrupted, or is not a run. Run its command again.",
  );
}

function wrongKind(
  dir: string,
  found: FolderKind,
  { summary }: FolderContent,
  wanted: string,
): Error {
  const finished = summary !== undefined;
  return isRunKind(found)
    ? dataError(`${dir} is ${aRun(found, finished)}, not ${wanted}`, nextStep(found, finished, dir))
    : dataError(`${dir} is ${OTHERS[found].what}, not ${wanted}`, OTHERS[found].next(dir));
}

function wantedName(wanted: readonly FolderKind[]): string {
  const names = wanted.map((kind) => (isRunKind(kind) ? aRun(kind) : OTHERS[kind].what));
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : `${names[0]}`;
}
