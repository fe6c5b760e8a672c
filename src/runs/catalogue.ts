/** Every run below a folder, whatever kind, as reports, the course and a studio list them. */

import { opendir, stat } from "node:fs/promises";
import path from "node:path";
import { dataError, ioError } from "../core/errors.ts";
import { JOURNAL } from "./artifacts.ts";
import { type Headline, headlineOf } from "./headline.ts";
import type { RunKind } from "./kinds.ts";
import { contentOf, type FolderContent, type RunState } from "./run-state.ts";

export interface RunEntry {
  readonly dir: string;
  readonly kind: RunKind;
  readonly state: RunState;
  readonly startedAt: string;
  readonly headline: Headline;
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
  const run = await entryOf(dir);
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
  return { dir, kind, state, startedAt: await startOf(dir, content), headline };
}

/** As the manifest says; a run that has none yet was claimed when it started. */
async function startOf(dir: string, { manifest, claim }: FolderContent): Promise<string> {
  const { started_at: started } = (manifest?.volatile ?? {}) as { started_at?: unknown };
  if (typeof started === "string") return started;
  if (claim) return claim.since.toISOString();
  const journal = await stat(path.join(dir, JOURNAL)).catch(() => stat(dir));
  return journal.birthtime.toISOString();
}
