/** Making a manifest, and the part of it that identifies the experiment. */

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import { promisify } from "node:util";
import { fingerprint } from "../core/fingerprint.ts";
import type { Manifest, Volatile } from "./schemas.ts";

/** What the manifests of all kinds have in common, as far as their fingerprint goes. */
interface AnyManifest {
  readonly volatile: Volatile;
  readonly inputs: Manifest["inputs"];
  readonly scorer?: object;
  readonly scorers?: readonly { readonly identity: object }[];
}

/**
 * The fingerprint of what was held fixed. Paths do not count, only content, so
 * that a moved workspace keeps its fingerprints.
 */
export function manifestFingerprint(manifest: AnyManifest): string {
  const { volatile: _volatile, inputs, scorer, scorers, ...fixed } = manifest;
  return fingerprint({
    ...fixed,
    ...(scorer && { scorer: withoutPath(scorer) }),
    ...(scorers && {
      scorers: scorers.map((one) => ({ ...one, identity: withoutPath(one.identity) })),
    }),
    inputs: inputs.map(withoutPath),
  });
}

function withoutPath({ path: _path, ...rest }: { readonly path?: unknown }): object {
  return rest;
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
