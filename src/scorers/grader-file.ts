/**
 * A grader's JSON as a scorer. Its identity covers the bytes of the file, what they say, and the code
 * of the kinds of graders in it, so that a changed grader is another instrument.
 */

import { fingerprint, sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import type {
  CheckedScore,
  GuardedScorer,
  ScoreRequest,
  Scorer,
  ScorerIdentity,
} from "../core/score.ts";
import { readSource, sourceFingerprint } from "../extensions/source.ts";
import { asHarness } from "../extensions/watch.ts";
import type { Grader } from "../graders/grader-schema.ts";
import { areSafe, filesOf } from "../graders/kinds.ts";
import { GRADERS_VERSION, openGrader, toGraderScorer, typesOf } from "../graders/open-grader.ts";
import type { OpenedGrader } from "../graders/opened.ts";
import { parseJsonFile, readGraderFile } from "../graders/settings.ts";
import { Guard } from "./guard.ts";
import { LONGEST_MS } from "./limits.ts";
import type { LoadedScorer } from "./loaded.ts";

/** Rows of a run that are under way at once. */
const AT_ONCE = 16;

export async function loadGrader(file: string): Promise<LoadedScorer> {
  const bytes = readSource(file);
  const value = parseJsonFile(Buffer.from(bytes).toString("utf8"), file);
  return (await opened(value, sha256(bytes), file, { start: true })).loaded;
}

async function opened(
  value: unknown,
  code_sha256: string,
  file: string,
  { start = false }: { readonly start?: boolean } = {},
) {
  const given = readGraderFile(value, file);
  const grader = await openGrader(given.grader, given.settings, file);
  if (start) await startedOrClosed(grader);
  const scorer = {
    ...toGraderScorer(given, grader),
    version: `${GRADERS_VERSION}+${code_sha256.slice(0, 8)}`,
  };
  const { name, version, spec, classes, range, deterministic } = scorer;
  const identity: ScorerIdentity = {
    ...{ name, version, spec, code_sha256, path: file },
    source_sha256: sourceOf(given.grader, value, code_sha256, grader.runtime),
    ...((grader.exact || grader.sandboxed) && { grader: value as JsonObject }),
    ...(deterministic === false && { deterministic }),
    ...(classes && { classes }),
    ...(range && { range: [...range] satisfies [number, number] }),
  };
  const loaded: LoadedScorer = {
    ...(grader.exact ? { scorer, again: scorer } : outside(scorer)),
    identity,
    ...(grader.ownLimit && { ownLimit: true }),
    // Exact graders are total and deterministic by the tests of their kinds.
    trusted: grader.exact,
    ...(grader.close && { close: () => grader.close?.() ?? Promise.resolve() }),
  };
  return { loaded, grader };
}

async function startedOrClosed(grader: OpenedGrader): Promise<void> {
  try {
    await grader.ready?.();
  } catch (error) {
    await grader.close?.();
    throw error;
  }
}

/** What it starts and asks is our code and not that of a user, which the guard watches. */
function outside(scorer: Scorer) {
  const own: Scorer = {
    ...scorer,
    score: (example, completion) => asHarness(() => scorer.score(example, completion)),
  };
  return { scorer: own, again: own };
}

function sourceOf(grader: Grader, value: unknown, code_sha256: string, runtime?: string): string {
  const code = filesOf(typesOf(grader)).map((file) => sourceFingerprint(file));
  const on = runtime === undefined ? {} : { runtime };
  return fingerprint({ file: code_sha256, grader: fingerprint(value), code, ...on });
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
  if (!areSafe(typesOf(readGraderFile(grader, where).grader)))
    return `${where} is not computed from its JSON alone.`;
  const { loaded, grader: found } = await opened(grader, code_sha256, where);
  const { exact, sandboxed, itemFields } = found;
  if (!exact && !sandboxed)
    return `${where} is run by a local interpreter, and not in the sandbox.`;
  const { name, source_sha256: here } = loaded.identity;
  if (here !== source_sha256)
    return `the graders had other code when ${name} scored the rows than they have now. Evaluate again to have them checked.`;
  if (itemFields === undefined)
    return `${name} may read any field of an item, and rows repeat some only. \`verify\` scores them again with the data set.`;
  const other = itemFields.find((field) => !repeated.includes(field));
  if (other !== undefined)
    return `${name} reads item.${other}, which rows do not repeat. \`verify\` scores them again with the data set.`;
  const guard = new Guard(loaded, exact ? Number.POSITIVE_INFINITY : LONGEST_MS, AT_ONCE);
  return {
    identity: loaded.identity,
    ...{ concurrency: 1, timeoutMs: Number.POSITIVE_INFINITY, ...(exact && { builtIn: true }) },
    scoreBatch: (batch: readonly ScoreRequest[]): Promise<CheckedScore[]> =>
      guard.scoreBatch(batch),
    close: async () => loaded.close?.(),
  };
}
