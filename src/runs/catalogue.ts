/** Every run below a folder, whatever kind, as reports, the course and a studio list them. */

import { opendir, stat } from "node:fs/promises";
import path from "node:path";
import { dataError, ioError } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { EVALUATIONS, JOURNAL, METRICS } from "./artifacts.ts";
import { contentOf, type FolderContent, type RunState } from "./folder-kind.ts";
import type { RunKind } from "./kinds.ts";
import { lastRow } from "./tail.ts";
import { readVerification, verificationLine } from "./verification.ts";

/** A run's main figures: null where undefined, such as a pass rate over no rows; absent if unknown. */
export type Headline = Readonly<Record<string, number | null>>;

export interface RunEntry {
  readonly dir: string;
  readonly kind: RunKind;
  readonly state: RunState;
  readonly startedAt: string;
  readonly headline: Headline;
  /** What was made again of it, in a line; absent where nothing was. */
  readonly verification?: string;
}

export interface ListOptions {
  /** Called with each folder that cannot be read, which is then left out. */
  readonly onUnreadable?: ((dir: string, error: unknown) => void) | undefined;
}

/** Undefined for a folder that is no run. */
export async function kindOf(dir: string): Promise<RunKind | undefined> {
  return (await contentOf(dir)).kind;
}

/**
 * The runs at and below `root`, folder by folder in the order of their names. Links are followed,
 * and each folder is listed once; hidden folders and node_modules are left out.
 */
export async function* listRuns(
  root: string,
  options: ListOptions = {},
): AsyncGenerator<RunEntry, void, void> {
  const found = await stat(root).catch((error) => {
    throw ioError(`read ${root}`, error, "data");
  });
  if (!found.isDirectory()) throw dataError(`${root} is a file, not a folder`, "Name a folder.");
  yield* walk(root, new Set(), options);
}

async function* walk(
  dir: string,
  seen: Set<string>,
  options: ListOptions,
): AsyncGenerator<RunEntry, void, void> {
  let inner: string[];
  try {
    const { dev, ino, mode } = await stat(dir, { bigint: true });
    const key = `${dev}:${ino}`;
    if (seen.has(key) || (mode & 0o170000n) !== 0o040000n) return;
    seen.add(key);
    inner = await foldersIn(dir);
  } catch (error) {
    // A link that leads nowhere, or a folder that was removed meanwhile, is nothing to report.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") options.onUnreadable?.(dir, error);
    return;
  }
  const run = await entryOf(dir).catch((error) => {
    options.onUnreadable?.(dir, error);
  });
  if (run) yield run;
  for (const name of inner) yield* walk(path.join(dir, name), seen, options);
}

/** Only folders are held: a run may have any number of files. */
async function foldersIn(dir: string): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(dir)) {
    if (!entry.isDirectory() && !entry.isSymbolicLink()) continue;
    if (!entry.name.startsWith(".") && entry.name !== "node_modules") names.push(entry.name);
  }
  return names.sort();
}

async function entryOf(dir: string): Promise<RunEntry | undefined> {
  const content = await contentOf(dir);
  const { kind, state } = content;
  if (!kind || !state) return undefined;
  const headline = await headlineOf(dir, kind, content.summary);
  const verified = state === "finished" ? await readVerification(dir) : undefined;
  return {
    ...{ dir, kind, state, startedAt: await startOf(dir, content), headline },
    ...(verified && { verification: verificationLine(verified) }),
  };
}

/** From the manifest; a run that has none yet was claimed when it started. */
async function startOf(dir: string, { manifest, claim }: FolderContent): Promise<string> {
  const { started_at: started } = (manifest?.volatile ?? {}) as { started_at?: unknown };
  if (typeof started === "string") return started;
  if (claim) return claim.since.toISOString();
  const journal = await stat(path.join(dir, JOURNAL)).catch(() => stat(dir));
  return journal.birthtime.toISOString();
}

/** Where each figure is in the summary. */
const FIGURES: Record<RunKind, readonly string[]> = {
  eval: ["metrics.pass_rate", "metrics.n_scored", "metrics.n_examples", "metrics.repeats"],
  select: ["metrics.pass_rate", "metrics.pass_at_1", "metrics.delta"],
  experiment: ["metrics.pass_rate", "metrics.mean_reward"],
  rollout: ["n_examples", "n_answers", "cost.completion_tokens"],
  pairs: ["n_prompts", "n_pairs", "n_labels"],
  review: ["n_pairs", "n_labelled", "win_rate"],
  train: ["steps", "tokens", "last_loss", "alarms"],
  "judge-audit": ["accuracy", "n_convicted", "n_undecided", "n_dropped"],
};

async function headlineOf(
  dir: string,
  kind: RunKind,
  summary: JsonObject | undefined,
): Promise<Headline> {
  const figures = FIGURES[kind].map((name): [string, Json | undefined] => {
    const keys = name.split(".");
    const value = keys.reduce<Json | undefined>(
      (inside, key) => (inside as JsonObject | null | undefined)?.[key],
      summary,
    );
    return [keys.at(-1) as string, value];
  });
  const last = kind === "train" ? await lastFigures(dir) : {};
  return { ...numbers(last), ...perExample(numbers(Object.fromEntries(figures))) };
}

/** With repeats the summary counts samples; the headline counts examples and samples apart. */
function perExample(headline: Headline): Headline {
  const { n_examples: rows, repeats } = headline;
  return rows && repeats ? { ...headline, n_examples: rows / repeats } : headline;
}

/** The last figures of a training run's streams; the last validation is in no summary. */
async function lastFigures(dir: string): Promise<JsonObject> {
  const { step, loss } = (await lastRow(dir, METRICS)) ?? {};
  const { pass_rate } = (await lastRow(dir, EVALUATIONS)) ?? {};
  return { steps: step, last_loss: loss, pass_rate };
}

/** A number too large for JSON readers, such as 1e400, is no figure. */
function numbers(values: JsonObject): Headline {
  const known = Object.entries(values).filter(
    (entry): entry is [string, number | null] => entry[1] === null || Number.isFinite(entry[1]),
  );
  return Object.fromEntries(known);
}
