/**
 * A grader's JSON as a scorer. Its identity covers the bytes of the file, what they say, and the code
 * of the kinds of graders in it, so that a changed grader is another instrument.
 */

import { fingerprint, sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import type { CheckedScore, GuardedScorer, ScoreRequest, ScorerIdentity } from "../core/score.ts";
import { readSource, sourceFingerprint } from "../extensions/source.ts";
import type { Grader } from "../graders/grader-schema.ts";
import { areExact, filesOf } from "../graders/kinds.ts";
import { GRADERS_VERSION, openGrader, toGraderScorer, typesOf } from "../graders/open-grader.ts";
import { parseJsonFile, readGraderFile } from "../graders/settings.ts";
import { Guard } from "./guard.ts";
import type { LoadedScorer } from "./loaded.ts";

export async function loadGrader(file: string): Promise<LoadedScorer> {
  const bytes = readSource(file);
  return (await opened(parseJsonFile(bytes.toString("utf8"), file), sha256(bytes), file)).loaded;
}

async function opened(value: unknown, code_sha256: string, file: string) {
  const given = readGraderFile(value, file);
  const grader = await openGrader(given.grader, given.settings, file);
  const scorer = {
    ...toGraderScorer(given, grader),
    version: `${GRADERS_VERSION}+${code_sha256.slice(0, 8)}`,
  };
  const { name, version, spec, classes, range, deterministic } = scorer;
  const identity: ScorerIdentity = {
    ...{ name, version, spec, code_sha256, path: file },
    source_sha256: sourceOf(given.grader, value, code_sha256),
    ...(grader.exact && { grader: value as JsonObject }),
    ...(deterministic === false && { deterministic }),
    ...(classes && { classes }),
    ...(range && { range: [...range] satisfies [number, number] }),
  };
  const loaded: LoadedScorer = {
    ...{ scorer, again: scorer, identity },
    // Exact graders are total and deterministic by the tests of their kinds.
    trusted: grader.exact,
    ...(grader.close && { close: () => grader.close?.() ?? Promise.resolve() }),
  };
  return { loaded, itemFields: grader.itemFields };
}

function sourceOf(grader: Grader, value: unknown, code_sha256: string): string {
  const code = filesOf(typesOf(grader)).map((file) => sourceFingerprint(file));
  return fingerprint({ file: code_sha256, grader: fingerprint(value), code });
}

type Recorded = Pick<ScorerIdentity, "source_sha256" | "path"> & {
  readonly code_sha256?: string | undefined;
  readonly grader?: JsonObject | undefined;
};

/**
 * The grader that a run records, for rows that repeat only these fields of their examples; otherwise
 * a sentence that says why it cannot score them again.
 */
export async function openRecordedGrader(
  { grader, code_sha256 = "", source_sha256, path }: Recorded,
  repeated: readonly string[],
): Promise<GuardedScorer | string> {
  const where = path ?? "the grader";
  // A run may record anything: nothing is opened that does more than compute.
  if (!areExact(typesOf(readGraderFile(grader, where).grader)))
    return `${where} is not computed from its JSON alone.`;
  const { loaded, itemFields } = await opened(grader, code_sha256, where);
  const { name, source_sha256: here } = loaded.identity;
  if (here !== source_sha256)
    return `the graders had other code when ${name} scored the rows than they have now. Evaluate again to have them checked.`;
  const other = itemFields?.find((field) => !repeated.includes(field));
  if (other !== undefined)
    return `${name} reads item.${other}, which rows do not repeat. \`verify\` scores them again with the data set.`;
  const guard = new Guard(loaded, Number.POSITIVE_INFINITY);
  return {
    identity: loaded.identity,
    ...{ concurrency: 1, timeoutMs: Number.POSITIVE_INFINITY, builtIn: true },
    scoreBatch: (batch: readonly ScoreRequest[]): Promise<CheckedScore[]> =>
      guard.scoreBatch(batch),
    async close() {},
  };
}
