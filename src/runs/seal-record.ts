/** seal.json, and the files of the keys that sign. What a signature is made of is in verify/seal.ts. */

import { existsSync } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { dataError, ioError, messageOf, usageError } from "../core/errors.ts";
import { MANIFEST, SEAL, SEAL_SCHEMA, SUMMARY } from "./artifacts.ts";
import { contentOf } from "./folder-kind.ts";
import { artifactJson } from "./run-folder.ts";
import { hash } from "./schemas.ts";
import { parseWith, readIfThere, sha256OfFile, writeWhole } from "./whole-file.ts";

export const sealSchema = z.strictObject({
  schema: z.literal(SEAL_SCHEMA),
  algorithm: z.literal("ed25519"),
  /** PEM of the key that the signature can be checked with. */
  public_key: z.string(),
  /** Of the two files, byte by byte; they hold the hashes of the run's other files. */
  signed: z.strictObject({ manifest_sha256: hash, summary_sha256: hash }),
  /** Base64. */
  signature: z.string(),
});

/** seal.json: a signature of a run. */
export type Seal = z.infer<typeof sealSchema>;

/** What a seal of this folder signs. */
export async function signedHashes(dir: string): Promise<Seal["signed"]> {
  const hashOf = (name: string) =>
    sha256OfFile(path.join(dir, name)).catch((error) => {
      throw ioError(`read ${path.join(dir, name)}`, error, "data");
    });
  return { manifest_sha256: await hashOf(MANIFEST), summary_sha256: await hashOf(SUMMARY) };
}

/** Undefined where there is no seal; throws where there is one that is none. */
export async function readSeal(dir: string): Promise<Seal | undefined> {
  const file = path.join(dir, SEAL);
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return parseWith(sealSchema, JSON.parse(text));
  } catch (error) {
    throw dataError(`${file} is no seal: ${messageOf(error)}`, "Seal the run again.");
  }
}

export async function writeSeal(dir: string, seal: Seal): Promise<string> {
  const file = path.join(dir, SEAL);
  await writeWhole(file, artifactJson(seal));
  return file;
}

export async function readKey(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error) => {
    throw ioError(`read ${file}`, error, "data");
  });
}

/** Writes a key that is not there yet. A private one can be read by its owner only. */
export async function writeKey(file: string, pem: string, mode: 0o600 | 0o644): Promise<void> {
  try {
    await mkdir(path.dirname(path.resolve(file)), { recursive: true });
    const handle = await open(file, "wx", mode);
    await handle.writeFile(pem).finally(() => handle.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw keyExists(file);
    throw ioError(`write ${file}`, error, "usage");
  }
}

export function refuseExistingKey(file: string): void {
  if (existsSync(file)) throw keyExists(file);
}

function keyExists(file: string): Error {
  return usageError(`${file} already exists`, "A key is never overwritten: choose another name.");
}

/** A private key in a run folder would travel with the run. */
export async function refuseInsideRun(file: string): Promise<void> {
  for (let dir = path.dirname(path.resolve(file)); ; dir = path.dirname(dir)) {
    if ((await contentOf(dir)).kind !== undefined) {
      throw usageError(
        `${file} lies in the run folder ${dir}`,
        "Keep private keys outside of runs: whoever gets the run would get the key.",
      );
    }
    if (dir === path.dirname(dir)) return;
  }
}
