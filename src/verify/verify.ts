/** Makes a run again and compares: the one function behind `verify` and `gate --verified`. */

import path from "node:path";
import { usageError } from "../core/errors.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import { SUMMARY, VERIFICATION_SCHEMA } from "../runs/artifacts.ts";
import { requireFinished, requireKind } from "../runs/folder-kind.ts";
import { observeOccasion } from "../runs/manifest.ts";
import { openRun, type Run } from "../runs/reader.ts";
import type { PartName, Verification, VerificationPart } from "../runs/verification.ts";
import { sha256OfFile } from "../runs/whole-file.ts";
import { verifyAnswers } from "./answers.ts";
import { verifyData } from "./data.ts";
import { type Draw, newDraw } from "./draw.ts";
import { episodeParts } from "./episodes.ts";
import { NO_HISTORY, verifyExposure } from "./exposure.ts";
import { verifyFiles } from "./files.ts";
import { reached } from "./find-input.ts";
import { type OnProgress, skipped } from "./part.ts";
import type { OpenRecordedJudge } from "./recorded-judge.ts";
import {
  findRecordedCheckpoint,
  openRecordedPolicy,
  type PolicyOptions,
} from "./recorded-policy.ts";
import { verifyRollout } from "./rollout.ts";
import { verifySamples } from "./sample.ts";
import { verifyScores } from "./score.ts";
import { verifyTraining } from "./train.ts";
import { verifyTries } from "./tries.ts";

/** What `verify` is given. @see {@link verify} */
export interface VerifyOptions extends PolicyOptions {
  readonly run: string;
  /** Absent: everything that this kind of run has. */
  readonly only?: readonly PartName[] | undefined;
  /** Sample only so many rows again, drawn at random. */
  readonly sample?: number | undefined;
  /** Repeats an earlier draw; a new one is drawn unless given. */
  readonly draw?: string | undefined;
  /** Of a training run: the steps to train again, or all. */
  readonly train?: number | true | undefined;
  /** The checkpoint that a training run began with. */
  readonly init?: string | undefined;
  /** Opens the judge of a run; it is asked again unless its answers are in a cache. */
  readonly openJudge?: OpenRecordedJudge | undefined;
  /** The scorer's file, in place of the one that the run names. */
  readonly scorer?: string | undefined;
  /** By axis, the scorer to use in place of the one that the run names; an axis that is not here is not scored. */
  readonly axes?: Readonly<Record<string, string>> | undefined;
  /** The file of a selection policy that is not built in. */
  readonly selectionPolicy?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
}

export const OF_SCORED: readonly PartName[] = [
  "files",
  "data",
  "answers",
  "score",
  "sample",
  "exposure",
  "tries",
];
const OF_ROLLOUT: readonly PartName[] = ["files", "sample", "exposure", "tries"];
const OF_TRAINING: readonly PartName[] = ["files", "train"];

function partsOfKind(kind: string | undefined): readonly PartName[] {
  if (kind === "train") return OF_TRAINING;
  return kind === "rollout" ? OF_ROLLOUT : OF_SCORED;
}

/**
 * Makes a finished run again, as far as it can be reached, and compares it byte for byte.
 * @example
 * ```ts
 * import { verify } from "lockedroom/verify";
 * const { result, parts } = await verify({ run: "runs/baseline", only: ["score"] });
 * console.log(result, parts.map(({ part, status }) => `${part} ${status}`));
 * ```
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const occasion = observeOccasion();
  const content = await requireKind(options.run, [
    "eval",
    "select",
    "experiment",
    "rollout",
    "train",
  ]);
  requireFinished(options.run, content);
  const summary = await sha256OfFile(path.join(options.run, SUMMARY));
  const draw = drawOf(options);
  const parts = await partsOf(content.kind, { ...options, draw });
  const { lockedroom, started_at, seconds, host, platform, node } = await occasion();
  return {
    schema: VERIFICATION_SCHEMA,
    summary_sha256: summary,
    lockedroom,
    result: resultOf(parts, partsOfKind(content.kind)),
    parts,
    draw: draw ?? null,
    volatile: { verified_at: started_at, seconds, host, platform, node },
  };
}

function drawOf({ sample, draw }: VerifyOptions): Draw | undefined {
  if (sample !== undefined) return { seed: draw ?? newDraw(), rows: sample };
  if (draw === undefined) return undefined;
  throw usageError("a draw needs the number of rows", "Give --sample N with --draw.");
}

type Wanted = Omit<VerifyOptions, "draw" | "sample"> & { readonly draw: Draw | undefined };

async function partsOf(kind: string | undefined, options: Wanted): Promise<VerificationPart[]> {
  const { run, train } = options;
  const wanted = asked(partsOfKind(kind), options);
  if (kind === "train") {
    if (train === undefined)
      throw usageError(
        `${run} is a training run, which is verified by training again`,
        "Give --train, or --train K for the first K steps.",
      );
    const steps = train === true ? undefined : train;
    return verifyTraining(run, wanted, { ...options, steps });
  }
  if (train !== undefined)
    throw usageError(`${run} is no training run`, "Leave --train out, or name a training run.");
  if (kind === "rollout") return verifyRollout(run, wanted, options);
  return scoredParts(await openRun(run), wanted, options);
}

function asked(all: readonly PartName[], { run, only }: Wanted): readonly PartName[] {
  const other = only?.find((part) => !all.includes(part));
  if (other === undefined) return only ?? all;
  throw usageError(`there is no part "${other}" of ${run}`, `Choose from ${all.join(", ")}.`);
}

async function scoredParts(
  run: Run,
  parts: readonly PartName[],
  options: Wanted,
): Promise<VerificationPart[]> {
  const made: VerificationPart[] = [];
  const work: Partial<Record<PartName, () => Promise<VerificationPart>>> = {
    files: () => verifyFiles(run),
    data: () => verifyData(run, options),
    answers: () => verifyAnswers(run, options),
    score: () => verifyScores(run, options),
    sample: () => verifySamples(run, options),
    exposure: () => exposureOf(run, options),
    tries: () =>
      ofPolicy("tries", run, options, (policy) =>
        verifyTries(run.manifest, policy, run.results().batches()),
      ),
    ...(run.manifest.environment && episodeParts(run, options)),
  };
  for (const part of parts) {
    const found = await work[part]?.();
    if (found) made.push(found);
  }
  return made;
}

async function exposureOf(run: Run, options: Wanted): Promise<VerificationPart> {
  const { manifest } = run;
  const found = await reached(() => findRecordedCheckpoint(manifest, options, NO_HISTORY));
  if ("why" in found) return skipped("exposure", found.why);
  const seen = found.value.seen ?? undefined;
  return verifyExposure(manifest.exposure, seen, run.results().batches(), false);
}

/** A part that needs the checkpoint; nothing is said where it cannot be reached. */
async function ofPolicy(
  part: PartName,
  { manifest }: Run,
  options: Wanted,
  work: (policy: EmbeddedPolicy) => Promise<VerificationPart>,
): Promise<VerificationPart> {
  const opened = await reached(() => openRecordedPolicy(manifest, options));
  if ("why" in opened) return skipped(part, opened.why);
  try {
    return await work(opened.value);
  } finally {
    await opened.value.close();
  }
}

function resultOf(
  parts: readonly VerificationPart[],
  all: readonly PartName[],
): Verification["result"] {
  const has = (status: VerificationPart["status"]) => parts.some((part) => part.status === status);
  if (has("differs")) return "differs";
  if (has("impossible") || !has("equal")) return "not_verified";
  const whole = all.every((name) => parts.some(({ part }) => part === name));
  return whole ? "verified" : "partly_verified";
}
