/** Making a manifest, and the part of it that identifies the experiment. */

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import { promisify } from "node:util";
import { dataError, messageOf } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { hasCheckpointIdentity, isCheckpoint } from "../core/policy.ts";
import type { Manifest, Provenance, Volatile } from "./schemas.ts";
import { parseWith, readIfThere } from "./whole-file.ts";

/** What the manifests of all kinds have in common, as far as their fingerprint goes. */
interface AnyManifest {
  readonly volatile: Volatile;
  readonly inputs: Manifest["inputs"];
  readonly scorer?: object;
  readonly axes?: readonly { readonly name: string; readonly scorer: object }[] | undefined;
  readonly scorers?: readonly { readonly identity: object }[];
  readonly environment?: object | null | undefined;
}

/**
 * The fingerprint of what was held fixed. Paths do not count, only content, so
 * that a moved workspace keeps its fingerprints.
 */
export function manifestFingerprint(manifest: AnyManifest): string {
  const { volatile: _volatile, inputs, scorer, axes, scorers, environment, ...fixed } = manifest;
  return fingerprint({
    ...fixed,
    ...(scorer && { scorer: withoutPlace(scorer) }),
    ...(axes && { axes: axes.map((one) => ({ ...one, scorer: withoutPlace(one.scorer) })) }),
    ...(scorers && {
      scorers: scorers.map((one) => ({ ...one, identity: withoutPlace(one.identity) })),
    }),
    ...(environment !== undefined && { environment: environment && withoutPlace(environment) }),
    inputs: inputs.map(withoutPath),
  });
}

function withoutPath({ path: _path, ...rest }: { readonly path?: unknown }): object {
  return rest;
}

/** Where the file of a scorer or an environment lies does not count; whether it is a file does. */
function withoutPlace({ path: file, ...rest }: { readonly path?: unknown }): object {
  return typeof file === "string" ? { ...rest, from_file: true } : rest;
}

/** Starts the clock; the returned function gives the volatile block. */
export function observeOccasion(): () => Promise<Volatile> {
  const startedAt = new Date();
  const git = gitState();
  return async () => ({
    started_at: startedAt.toISOString(),
    seconds: (Date.now() - startedAt.getTime()) / 1000,
    host: os.hostname(),
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    lockedroom: packageVersion(),
    git: await git,
  });
}

export function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

async function gitState(): Promise<Volatile["git"]> {
  try {
    const flags = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"];
    const { stdout } = await promisify(execFile)("git", flags);
    const commit = /^# branch\.oid ([0-9a-f]+)$/m.exec(stdout)?.[1];
    return commit === undefined ? null : { commit, dirty: /^[^#]/m.test(stdout) };
  } catch {
    return null; // Not a repository, or no git: the run is no less valid.
  }
}

/** `rollouts.jsonl` is described by `rollouts.provenance.json` beside it. */
export function provenancePath(completions: string): string {
  return `${completions.replace(/\.jsonl$/, "")}.provenance.json`;
}

/** Undefined without a provenance file; refused when it describes another file. */
export async function readProvenance({
  path: completions,
  sha256,
}: {
  readonly path: string | null;
  readonly sha256: string;
}): Promise<Provenance | undefined> {
  if (completions === null) return undefined;
  const file = provenancePath(completions);
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  const provenance = await parse(file, text);
  requireWhole(file, provenance);
  if (provenance.completions_sha256 !== undefined && provenance.completions_sha256 !== sha256) {
    throw dataError(
      `${file} describes another version of ${completions}`,
      "The completions changed after they were described; make both again.",
    );
  }
  return provenance;
}

/** A rollout of a checkpoint states its weights and binds each row to its prompt. */
function requireWhole(file: string, { policy, prompts_by_row }: Provenance): void {
  if (!policy || !isCheckpoint(policy)) return;
  const again = "Make completions and provenance again with rollout.";
  if (!hasCheckpointIdentity(policy))
    throw dataError(`${file} names a checkpoint without the fingerprint of its weights`, again);
  if (prompts_by_row !== true)
    throw dataError(
      `${file} names a checkpoint and does not say that every row names its prompt`,
      again,
    );
}

async function parse(file: string, text: string): Promise<Provenance> {
  try {
    // Loaded only here: most evaluations have no provenance, and the schemas take time to load.
    const { provenanceSchema } = await import("./schemas.ts");
    return parseWith(provenanceSchema, JSON.parse(text));
  } catch (error) {
    throw dataError(
      `${file} is not a provenance file: ${messageOf(error)}`,
      "See schemas/provenance@1.json.",
    );
  }
}
