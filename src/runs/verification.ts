/**
 * verification.json: what was made again of a finished run, and whether it is the same. It lies beside
 * the run's files without being one of them, and holds the hash of the summary that it was made for.
 */

import path from "node:path";
import { z } from "zod";
import { SUMMARY, VERIFICATION, VERIFICATION_SCHEMA } from "./artifacts.ts";
import { artifactJson } from "./run-folder.ts";
import { count, hash } from "./schemas.ts";
import { parseWith, readIfThere, sha256OfFile, writeWhole } from "./whole-file.ts";

export const PARTS = [
  "files",
  "data",
  "answers",
  "score",
  "sample",
  "exposure",
  "tries",
  "train",
] as const;
export type PartName = (typeof PARTS)[number];

const part = z.strictObject({
  part: z.enum(PARTS),
  /** Impossible: it was asked for, and something that it needs cannot be reached. */
  status: z.enum(["equal", "differs", "impossible", "skipped"]),
  /** How many rows, files or steps were made again, of how many. */
  repeated: count,
  of: count,
  /** What was compared; or why it was not. */
  message: z.string(),
  differences: count,
  /** At most five. `expected` is what making it again gives, `found` what the run holds. */
  first: z.array(
    z.strictObject({ id: z.string(), what: z.string(), expected: z.string(), found: z.string() }),
  ),
});

export const verificationSchema = z.strictObject({
  schema: z.literal(VERIFICATION_SCHEMA),
  /** Of summary.json as it was; another one makes this verification stale. */
  summary_sha256: hash,
  /** The version that made the run again. */
  lockedroom: z.string(),
  result: z.enum(["verified", "differs", "not_verified"]),
  parts: z.array(part),
  /** The rows that were sampled again, where not all were; `--draw` repeats them. */
  draw: z.strictObject({ seed: z.string(), rows: count }).nullable(),
  volatile: z.strictObject({
    verified_at: z.string(),
    seconds: z.number(),
    host: z.string(),
    platform: z.string(),
    node: z.string(),
  }),
});

/** What was made again, without the run and the occasion. */
export const madeAgainSchema = verificationSchema.pick({
  ...{ lockedroom: true, result: true, parts: true, draw: true },
});
export type MadeAgain = z.infer<typeof madeAgainSchema>;

/** What `verify` found. @see {@link verify} */
export type Verification = z.infer<typeof verificationSchema>;
export type VerificationPart = z.infer<typeof part>;

export async function writeVerification(dir: string, found: Verification): Promise<string> {
  const file = path.join(dir, VERIFICATION);
  await writeWhole(file, artifactJson(found));
  return file;
}

export interface ReadVerification {
  readonly verification: Verification;
  /** False when the run has another summary.json than the one that was verified. */
  readonly fresh: boolean;
}

/** Undefined where there is none, or none that can be read: it is a remark, and no part of the run. */
export async function readVerification(dir: string): Promise<ReadVerification | undefined> {
  try {
    const text = await readIfThere(path.join(dir, VERIFICATION));
    if (text === undefined) return undefined;
    const verification = parseWith(verificationSchema, JSON.parse(text));
    const summary = await sha256OfFile(path.join(dir, SUMMARY));
    return { verification, fresh: summary === verification.summary_sha256 };
  } catch {
    return undefined;
  }
}

const WORDS: Record<PartName, string> = {
  files: "files checked",
  data: "rows compared with the data set",
  answers: "rows compared with the completions",
  score: "rows scored again",
  sample: "sampled again",
  exposure: "exposure counted again",
  tries: "seeds counted again",
  train: "steps trained again",
};

/** Those that a reader wants to see in one line; the others are in the file. */
const SHOWN: readonly PartName[] = ["score", "sample", "train"];

const RESULTS = { verified: "verified", differs: "DIFFERS", not_verified: "not verified" } as const;

/** "verified: rows scored again 200 of 200, sampled again 50 of 200" */
export function verificationLine({ verification, fresh }: ReadVerification): string {
  if (!fresh) return "verification out of date: the run changed since; verify it again";
  return madeAgainLine(verification);
}

export function madeAgainLine({ result, parts, lockedroom }: MadeAgain): string {
  const shown = parts.filter(
    ({ part: name, status }) =>
      status === "differs" || (SHOWN.includes(name) && status !== "skipped"),
  );
  const list = shown.map(({ part: name, status, repeated, of, differences }) => {
    if (status === "impossible") return `${WORDS[name]}: not possible`;
    const words = `${WORDS[name]} ${repeated} of ${of}`;
    return status === "differs" ? `${words}, ${differences} different` : words;
  });
  return `${RESULTS[result]}: ${list.join(", ")} (by lockedroom ${lockedroom})`;
}
