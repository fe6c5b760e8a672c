/**
 * The saved states of a training run. Each is bound to its files, to the streams so far and to the
 * state before it, the first one to the manifest: what was damaged or exchanged while the run was
 * paused is refused. The chain stays in states.jsonl, so that a run can be compared with its repetition.
 */

import { createHash, type Hash } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import { dataError, ioError, messageOf } from "../core/errors.ts";
import { fingerprint, sha256 } from "../core/fingerprint.ts";
import { BASELINE, KEPT, STATE, STATES, SUMMARY } from "./artifacts.ts";
import { requireBytes } from "./line-files.ts";
import { openRegular, refuseOther } from "./regular-file.ts";
import { namesIn, wholeFolder } from "./replace-folder.ts";
import { hash } from "./schemas.ts";
import { type StateRecord, stateRecordSchema } from "./train-records.ts";
import {
  fileExists,
  parseWith,
  readIfThere,
  readText,
  sha256OfFile,
  toObject,
} from "./whole-file.ts";

/** Each grows line by line. Timing holds seconds, which no comparison reads. */
export const STREAMS = ["metrics", "evaluations", "samples", "alarms", "timing", "states"] as const;
export type Stream = (typeof STREAMS)[number];

/** How long each stream is. */
export type StreamBytes = Readonly<Record<Stream, number>>;
export type StreamHashes = Readonly<Record<Stream, string>>;

/** Those that are the same in every repetition of the run, besides the chain itself. */
const CHAINED = ["metrics", "evaluations", "samples", "alarms"] as const;

const FILE = "resume.json";
const ANEW = "It was damaged, edited or exchanged. Restore it, or start over with --force.";

const ofStreams = <T extends z.ZodType>(value: T) =>
  z.strictObject({
    ...{ metrics: value, evaluations: value, samples: value, alarms: value },
    ...{ timing: value, states: value },
  });

const stateSchema = z.strictObject({
  /** Steps done. */
  step: z.int().min(1),
  /** How long each stream is, and the SHA-256 of so much of it. */
  bytes: ofStreams(z.int().min(0)),
  streams: ofStreams(hash),
  /** What the next batch depends on. */
  source: z.json(),
  /** SHA-256 of the best weights so far; null where none were kept. */
  best: hash.nullable(),
  /** SHA-256 of kept.jsonl, where samples were kept to learn from. */
  kept: hash.nullable(),
  /** SHA-256 of baseline.jsonl, where a judge compares with the initial policy. */
  baseline: hash.optional(),
  /** SHA-256 of each other file of the folder. */
  files: z.record(z.string(), hash),
  state_sha256: hash,
  chain: hash,
});

export type SavedState = z.infer<typeof stateSchema>;

/** What a state is made of, before it has its place in the chain. */
export type StateParts = Omit<SavedState, "state_sha256" | "chain">;

/** Of everything in a state that a repetition of the run has too. */
export function stateHash(state: StateParts): string {
  const { step, source, best, kept, baseline, files, streams } = state;
  const chained = Object.fromEntries(CHAINED.map((stream) => [stream, streams[stream]]));
  return fingerprint({
    ...{ step, source, best, kept, files, streams: chained },
    ...(baseline !== undefined && { baseline }),
  });
}

/** `before` is the chain of the state before, or the manifest's fingerprint. */
export function nextInChain(before: string, state: string): string {
  return sha256(`${before}\n${state}`);
}

/** The state with its place in the chain, as resume.json holds it. */
export function chained(parts: StateParts, before: string): SavedState {
  const state_sha256 = stateHash(parts);
  return { ...parts, state_sha256, chain: nextInChain(before, state_sha256) };
}

export function stateFile(folder: string): string {
  return path.join(folder, FILE);
}

export function stateRecord({ step, state_sha256, chain }: SavedState): StateRecord {
  return { step, state_sha256, chain };
}

/** The last saved state, if all that it is bound to is as it was; undefined where none was saved. */
export async function readSavedState(
  dir: string,
  manifestFingerprint: string,
): Promise<SavedState | undefined> {
  const folder = wholeFolder(path.join(dir, STATE));
  // They are written to, which must not reach a file elsewhere.
  for (const stream of STREAMS) await refuseOther(path.join(dir, `${stream}.jsonl`));
  if (!fileExists(folder)) {
    await requireNoneSaved(dir, folder);
    return undefined;
  }
  const file = stateFile(folder);
  const state = await readState(file);
  if (stateHash(state) !== state.state_sha256) throw changed(file);
  await requireFiles(folder, state.files);
  if (state.kept !== null && (await keptHash(dir).catch(() => null)) !== state.kept) {
    throw changed(path.join(dir, KEPT));
  }
  if (state.baseline !== undefined && (await baselineHash(dir)) !== state.baseline) {
    throw changed(path.join(dir, BASELINE));
  }
  for (const stream of STREAMS) {
    const name = path.join(dir, `${stream}.jsonl`);
    await requireBytes(name, state.bytes[stream]);
    const found = (await hashOfStart(name, state.bytes[stream])).digest("hex");
    if (found !== state.streams[stream]) throw changed(name);
  }
  const before = await lastInChain(dir, state, manifestFingerprint);
  if (nextInChain(before, state.state_sha256) !== state.chain) throw changed(file);
  return state;
}

/** Null where no samples were kept. */
export async function keptHash(dir: string): Promise<string | null> {
  const file = path.join(dir, KEPT);
  return fileExists(file) ? sha256OfFile(file) : null;
}

/** Undefined where the run compares nothing with its initial policy. */
export async function baselineHash(dir: string): Promise<string | undefined> {
  const file = path.join(dir, BASELINE);
  return fileExists(file) ? sha256OfFile(file).catch(() => undefined) : undefined;
}

async function readState(file: string): Promise<SavedState> {
  try {
    return parseWith(stateSchema, JSON.parse(await readText(file)));
  } catch (error) {
    throw dataError(`${file} is damaged or of another version: ${messageOf(error)}`, ANEW);
  }
}

/** Without a saved state a run begins anew: one that was removed must not pass for none. */
async function requireNoneSaved(dir: string, folder: string): Promise<void> {
  const states = path.join(dir, STATES);
  if (fileExists(path.join(dir, SUMMARY)) || !(await readIfThere(states))) return;
  throw dataError(
    `${folder} is missing, and ${states} says that states were saved`,
    "Restore it, or start over with --force.",
  );
}

/** The folder has these files and no others. */
async function requireFiles(
  folder: string,
  expected: Readonly<Record<string, string>>,
): Promise<void> {
  const names = new Set([...Object.keys(expected), ...(await namesIn(folder))]);
  names.delete(FILE);
  for (const name of [...names].sort()) {
    const file = path.join(folder, name);
    if (!fileExists(file)) throw dataError(`${file} is missing`, ANEW);
    const found = await sha256OfFile(file).catch(() => undefined);
    if (found === undefined || found !== expected[name]) throw changed(file);
  }
}

/** Follows states.jsonl from the manifest to the state before this one. */
async function lastInChain(dir: string, { bytes, step }: SavedState, first: string) {
  const file = path.join(dir, STATES);
  const text = (await readIfThere(file)) ?? "";
  // The rest belongs to this state, and may be cut off.
  const lines = text.slice(0, bytes.states).trimEnd().split("\n");
  let chain = first;
  for (const line of bytes.states === 0 ? [] : lines) {
    const row = stateRecordSchema.safeParse(toObject(line)).data;
    chain = nextInChain(chain, row?.state_sha256 ?? "");
    if (chain !== row?.chain || row.step >= step) throw changed(file);
  }
  return chain;
}

function changed(file: string): Error {
  return dataError(`${file} is not what the run was paused with`, ANEW);
}

/** The hash of the first bytes of a file, to be continued. */
export async function hashOfStart(file: string, bytes: number): Promise<Hash> {
  const start = createHash("sha256");
  if (bytes === 0) return start;
  try {
    const handle = await openRegular(file);
    for await (const part of handle.createReadStream({ end: bytes - 1 })) start.update(part);
    return start;
  } catch (error) {
    throw ioError(`read ${file}`, error, "data");
  }
}

/** A value as a file gives it back. */
export function asJson(value: unknown): SavedState["source"] {
  return JSON.parse(JSON.stringify(value ?? null));
}
