/**
 * verification.json: what was made again of a finished run, and whether it is the same. It lies beside
 * the run's files without being one of them, and holds the hash of the summary that it was made for.
 */

import path from "node:path";
import { z } from "zod";
import { SUMMARY, VERIFICATION, VERIFICATION_SCHEMA } from "./artifacts.ts";
import { artifactJson } from "./run-folder.ts";
import { count, hash } from "./schemas.ts";
import { parseWith, readIfThere, refusePipe, sha256OfFile, writeWhole } from "./whole-file.ts";

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
  /** Partly: what was asked for is the same, and not every part of such a run was asked for. */
  result: z.enum(["verified", "partly_verified", "differs", "not_verified"]),
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

export interface WrittenVerification {
  readonly file: string;
  /** False where a fuller verification of the same run is there, which was kept. */
  readonly written: boolean;
}

export async function writeVerification(
  dir: string,
  found: Verification,
): Promise<WrittenVerification> {
  const file = path.join(dir, VERIFICATION);
  const earlier = (await readVerification(dir))?.verification;
  const written = !(earlier && isFuller(earlier, found));
  if (written) await writeWhole(file, artifactJson(found));
  return { file, written };
}

/** Of one summary: more parts, or as many with more in them. A difference is always news. */
function isFuller(earlier: Verification, later: Verification): boolean {
  if (earlier.summary_sha256 !== later.summary_sha256 || later.result === "differs") return false;
  const [before, after] = [compared(earlier), compared(later)];
  const repeatedAgain = ({ part, repeated }: VerificationPart) =>
    after.some((other) => other.part === part && other.repeated >= repeated);
  // Only the same check with another result takes a difference back.
  if (earlier.result === "differs")
    return !before.filter(({ status }) => status === "differs").every(repeatedAgain);
  return before.length === after.length
    ? total(before) > total(after)
    : before.length > after.length;
}

function compared({ parts }: Verification): VerificationPart[] {
  return parts.filter(({ status }) => status === "equal" || status === "differs");
}

function total(parts: readonly VerificationPart[]): number {
  return parts.reduce((sum, { repeated }) => sum + repeated, 0);
}

export interface ReadVerification {
  readonly verification: Verification;
  /** False when the run has another summary.json than the one that was verified. */
  readonly fresh: boolean;
}

/** Undefined where there is none, or none that can be read: it is a remark, and no part of the run. */
export async function readVerification(dir: string): Promise<ReadVerification | undefined> {
  await refusePipe(path.join(dir, VERIFICATION));
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

export const RESULT_WORDS: Record<Verification["result"], string> = {
  verified: "verified",
  partly_verified: "partly verified",
  differs: "DIFFERS",
  not_verified: "not verified",
};

/** "verified: files 3 of 3, score 200 of 200, sample 50 of 200 (by lockedroom 1.0.0)" */
export function verificationLine({ verification, fresh }: ReadVerification): string {
  if (!fresh) return "verification out of date: the run changed since; verify it again";
  return madeAgainLine(verification);
}

export function madeAgainLine({ result, parts, lockedroom }: MadeAgain): string {
  const list = parts.map(({ part: name, status, repeated, of, differences }) => {
    if (status === "impossible") return `${name} not possible`;
    if (status === "skipped") return `${name} not compared`;
    const counts = `${name} ${repeated} of ${of}`;
    return status === "differs" ? `${counts}, ${differences} different` : counts;
  });
  return `${RESULT_WORDS[result]}: ${list.join(", ")} (by lockedroom ${lockedroom})`;
}
