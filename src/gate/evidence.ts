/** Reads both runs' rows side by side: are the files intact, do the rows match, and which rewards changed? */

import { canonicalJson } from "../core/json.ts";
import { actionsOf } from "../core/replay.ts";
import { visible } from "../core/visible.ts";
import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { Run } from "../runs/reader.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { DifferenceCounts } from "../stats/difference-counts.ts";
import { openAxisRescoring } from "./axis-rescore.ts";
import { EpisodeSeeds, notOfSeed } from "./episode-seeds.ts";
import { comparedValue, NO_VERDICT, otherJudgements } from "./judged.ts";
import { openJudgedRows } from "./judged-rows.ts";
import { PairSlices } from "./pair-slices.ts";
import { RecountedRun } from "./recount.ts";
import { PromptHashes } from "./repeated-prompts.ts";
import { openRescoring } from "./rescore.ts";
import type { RowCheck } from "./row-check.ts";
import { SliceEvidence } from "./slice-evidence.ts";

export interface Evidence {
  readonly violations: Reason[];
  readonly baseline: GateReport["baseline"];
  readonly candidate: GateReport["candidate"];
  readonly differences: DifferenceCounts;
  /** Every reward is 0 or 1, or a judge prefers one attempt or the other: the numbers of flips are sufficient. */
  readonly binary: boolean;
  /** The lowest and the highest in either run. */
  readonly rewards: { readonly lowest: number; readonly highest: number };
  readonly flips: NonNullable<GateReport["flips"]>;
  /** Hashes of prompts that seem to occur more than once. */
  readonly repeated: ReadonlySet<number>;
  /** By value of the field that was asked for. */
  readonly slices: ReadonlyMap<string, SliceEvidence>;
}

/** What else is asked of the rows. */
export interface EvidenceOptions {
  /** Compare the examples of each value of this field apart. */
  readonly slice?: string | undefined;
  /** Called with every pair of rows of one example. */
  readonly onPair?: ((baseline: ResultRow, candidate: ResultRow) => void) | undefined;
}

const FIRST_FLIPS = 20;

/** What finds scores that nobody gave; undefined where nothing here can. */
async function openRowCheck(run: Run): Promise<RowCheck | undefined> {
  return run.manifest.judge ? openJudgedRows(run) : openRescoring(run.manifest);
}

export async function gatherEvidence(
  baseline: Run,
  candidate: Run,
  { slice, onPair }: EvidenceOptions = {},
): Promise<Evidence> {
  const sides = [new RecountedRun(baseline), new RecountedRun(candidate)] as const;
  const differences = new DifferenceCounts();
  const flips: Evidence["flips"] = { gained: 0, lost: 0, first: [] };
  const altered = new AlteredExamples();
  const consistency = new ScorerConsistency();
  const prompts = new PromptHashes();
  const slices = new Map<string, SliceEvidence>();
  const sliced = await PairSlices.open(slice, baseline, candidate);
  const rescoring = [await openRowCheck(baseline), await openRowCheck(candidate)] as const;
  const isJudged = baseline.manifest.judge !== undefined;
  const onAxes = [
    await openAxisRescoring(baseline.manifest),
    await openAxisRescoring(candidate.manifest),
  ] as const;
  const seeds = [
    new EpisodeSeeds(baseline.manifest),
    new EpisodeSeeds(candidate.manifest),
  ] as const;
  let otherSample: Reason | undefined;
  let otherGame: Reason | undefined;
  let unpaired: Parameters<typeof notPaired> | undefined;
  for await (const [before, after] of sideBySide(sides)) {
    if (before) seeds[0].add(before);
    if (after) seeds[1].add(after);
    if (before && rescoring[0]?.add(before)) await rescoring[0].settle();
    if (after && rescoring[1]?.add(after)) await rescoring[1].settle();
    if (before && onAxes[0]?.add(before)) await onAxes[0].settle();
    if (after && onAxes[1]?.add(after)) await onAxes[1].settle();
    if (before?.id !== after?.id || before?.sample !== after?.sample) unpaired ??= [before, after];
    if (!before || !after || unpaired) continue;
    const value = await sliced?.of(before, after);
    // A judge gives attempts of one group scores by their place as well: the audit measures that.
    if (!altered.compare(before, after) && !isJudged) consistency.compare(before, after);
    onPair?.(before, after);
    otherSample ??= notFirstSample(before, after);
    otherGame ??= notSameGame(before, after);
    const [was, is] = [comparedValue(before, isJudged), comparedValue(after, isJudged)];
    if (was === null || is === null) continue;
    const change = is - was;
    differences.add(change);
    if (value !== undefined) {
      const evidence = slices.get(value) ?? new SliceEvidence();
      slices.set(value, evidence);
      evidence.add(was, is);
    }
    prompts.add(before.prompt);
    if (change === 0) continue;
    flips[change > 0 ? "gained" : "lost"]++;
    if (flips.first.length < FIRST_FLIPS) {
      const codes = { baseline: before.outcome_code, candidate: after.outcome_code };
      flips.first.push({ id: before.id, ...codes, change });
    }
  }
  await sliced?.close();
  if (!unpaired) sliced?.requireFound();
  for (const side of [...rescoring, ...onAxes]) await side?.finish();
  return {
    violations: [
      ...integrity(sides),
      ...otherAnswers(sides),
      ...otherRewards(rescoring, REWARDS_DIFFER),
      ...otherRewards(onAxes, AXIS_REWARDS_DIFFER),
      ...otherJudgements(baseline, candidate),
      ...notOfSeed(seeds),
      ...altered.reasons(),
      ...consistency.reasons(),
      ...(otherSample ? [otherSample] : []),
      ...(otherGame ? [otherGame] : []),
      ...unscored(sides),
      ...alarmReasons(sides),
      ...(unpaired ? [notPaired(...unpaired)] : []),
    ],
    baseline: sides[0].report(),
    candidate: sides[1].report(),
    differences,
    binary: isJudged || sides.every(({ binary }) => binary),
    rewards: {
      lowest: Math.min(...sides.map(({ lowest }) => lowest)),
      highest: Math.max(...sides.map(({ highest }) => highest)),
    },
    flips,
    repeated: prompts.repeated(),
    slices,
  };
}

/** Row by row to the end of the longer run. */
async function* sideBySide([baseline, candidate]: readonly [
  RecountedRun,
  RecountedRun,
]): AsyncGenerator<[ResultRow | undefined, ResultRow | undefined]> {
  try {
    for (;;) {
      const before = baseline.buffered() ?? (await baseline.read());
      const after = candidate.buffered() ?? (await candidate.read());
      if (!before && !after) return;
      baseline.count(before);
      candidate.count(after);
      yield [before, after];
    }
  } finally {
    await baseline.close();
    await candidate.close();
  }
}

/** The same completion of the same example must get the same score, whatever the manifests say. */
class ScorerConsistency {
  #first: Reason | undefined;
  #count = 0;

  compare(before: ResultRow, after: ResultRow): void {
    const known = new Map(scoresOf(before));
    for (const [completion, score] of scoresOf(after)) {
      const other = known.get(completion);
      if (other === undefined || other === score) continue;
      this.#count++;
      this.#first ??= {
        code: "instrument_inconsistent",
        message: `${visible(before.id)}: the same completion has two different scores.`,
        baseline: other,
        candidate: score,
      };
    }
  }

  reasons(): Reason[] {
    if (!this.#first) return [];
    const message = `${this.#first.message} ${this.#count} such ${this.#count === 1 ? "case" : "cases"}: the scorer depends on something other than its code and its input.`;
    return [{ ...this.#first, message }];
  }
}

/** An evaluation compares with a selection only if it evaluated the first sample of each example. */
function notFirstSample(before: ResultRow, after: ResultRow): Reason | undefined {
  if ((before.samples === undefined) === (after.samples === undefined)) return undefined;
  const first = ({ samples, completion }: ResultRow) =>
    samples ? (samples[0]?.completion ?? null) : completion;
  const [baseline, candidate] = [first(before), first(after)];
  if (baseline === candidate) return undefined;
  return {
    code: "samples_differ",
    message: `${visible(before.id)}: the evaluated completion is not the first of the samples that were selected from.`,
    baseline,
    candidate,
  };
}

/**
 * Two policies are compared in the same games: with others, one may have had the easier ones. What was
 * imported has no address, and a selection takes whichever sample it likes.
 */
function notSameGame(before: ResultRow, after: ResultRow): Reason | undefined {
  if (before.samples || after.samples) return undefined;
  const [baseline, candidate] = [before, after].map(({ episode }) => episode?.address ?? []);
  if (!baseline?.length || !candidate?.length) return undefined;
  if (canonicalJson(baseline) === canonicalJson(candidate)) return undefined;
  return {
    code: "games_differ",
    message: `${visible(before.id)}: the two episodes have different random numbers, so the games are not the same. Make both rollouts with the same seed.`,
    ...{ baseline: canonicalJson(baseline), candidate: canonicalJson(candidate) },
  };
}

/** The scored completions of a row, each with its outcome and reward. */
function scoresOf(row: ResultRow): [completion: string, score: string][] {
  // The same actions are another episode where the randomness is other; the rest of a pack is not kept.
  if (row.episode) {
    const { address, messages } = row.episode;
    const played = canonicalJson([address, actionsOf(messages)]);
    return row.reward === null ? [] : [[played, scoreText(row)]];
  }
  return (row.samples ?? [row]).flatMap((one) =>
    one.completion === null || one.reward === null ? [] : [[one.completion, scoreText(one)]],
  );
}

function scoreText({ reward, outcome_code: code }: Pick<ResultRow, "reward" | "outcome_code">) {
  return `${code} with reward ${reward}`;
}

/** Names the first example whose content differs; a fingerprint shows only that one does. */
class AlteredExamples {
  readonly #first = new Map<
    "expected_answer" | "prompt" | "slices" | "axis_labels",
    { count: number; before: ResultRow; after: ResultRow }
  >();

  /** True when the example differs. */
  compare(before: ResultRow, after: ResultRow): boolean {
    let differs = false;
    for (const field of ["expected_answer", "prompt", "slices", "axis_labels"] as const) {
      if (field === "slices" && !sameFields(before.slices, after.slices)) continue;
      // Rows without axes hold no labels.
      if (field === "axis_labels" && !(before.axes && after.axes)) continue;
      if (
        before[field] === after[field] ||
        canonicalJson(before[field] ?? null) === canonicalJson(after[field] ?? null)
      )
        continue;
      differs = true;
      const known = this.#first.get(field);
      if (known) known.count++;
      else this.#first.set(field, { count: 1, before, after });
    }
    return differs;
  }

  reasons(): Reason[] {
    return [...this.#first].map(([field, { count, before, after }]) => ({
      code: `${field}_altered`,
      message: `${count} ${count === 1 ? "example has" : "examples have"} a different ${field.replace("_", " ")}; the first is ${visible(before.id)}.`,
      baseline: before[field] ?? null,
      candidate: after[field] ?? null,
    }));
  }
}

/** Runs that are sliced by other fields are compared by what both have. */
function sameFields(one: ResultRow["slices"] = {}, other: ResultRow["slices"] = {}): boolean {
  return canonicalJson(Object.keys(one)) === canonicalJson(Object.keys(other));
}

function integrity([baseline, candidate]: readonly [RecountedRun, RecountedRun]): Reason[] {
  const [before, after] = [baseline.editedFiles(), candidate.editedFiles()];
  if (before.length + after.length === 0) return [];
  return [
    {
      code: "run_edited",
      message:
        "A run was edited after it was written: its files do not match their recorded hashes. Run its command again.",
      baseline: before.length === 0 ? "intact" : `edited: ${before.join(", ")}`,
      candidate: after.length === 0 ? "intact" : `edited: ${after.join(", ")}`,
    },
  ];
}

function otherAnswers([baseline, candidate]: readonly [RecountedRun, RecountedRun]): Reason[] {
  const [before, after] = [baseline.otherAnswers(), candidate.otherAnswers()];
  if (before === null && after === null) return [];
  return [
    {
      code: "answers_differ_from_hash",
      message:
        "The completions in a run's rows are not those that its manifest has the hash of. Run its command again.",
      baseline: before ?? "as recorded",
      candidate: after ?? "as recorded",
    },
  ];
}

const REWARDS_DIFFER = {
  code: "rewards_differ_from_scorer",
  message:
    "The rows were scored again, and a run has rewards, codes or details that its scorer does not give. Run its command again.",
};
const AXIS_REWARDS_DIFFER = {
  code: "axis_rewards_differ",
  message:
    "The rows were scored again on their axes, and a run has rewards or codes that the axes do not give. Run its command again.",
};

function otherRewards(
  [baseline, candidate]: readonly (Pick<RowCheck, "differing" | "words"> | undefined)[],
  words: Pick<Reason, "code" | "message">,
): Reason[] {
  const [before, after] = [baseline?.differing ?? null, candidate?.differing ?? null];
  if (before === null && after === null) return [];
  return [
    {
      ...(baseline?.words ?? candidate?.words ?? words),
      baseline: before ?? "as scored",
      candidate: after ?? "as scored",
    } as Reason,
  ];
}

const UNSCORED = [
  {
    kind: "missing",
    code: "missing_completions",
    message: "Some examples have no completion. Add the missing completions and evaluate again.",
  },
  {
    kind: "invalid",
    code: "invalid_examples",
    message:
      "Some examples are invalid for the scorer, so nothing was measured on them. Fix the data and evaluate again.",
  },
  {
    kind: "unrewarded",
    code: "no_reward",
    message:
      "The environment gives no reward, so there is nothing to compare. Compare runs of an environment that does.",
  },
  {
    kind: "broken",
    code: "scorer_errors",
    message:
      "The scorer or environment failed on some rows, so the rates are not valid. Fix it and evaluate again.",
  },
] as const;

function unscored([baseline, candidate]: readonly [RecountedRun, RecountedRun]): Reason[] {
  return UNSCORED.filter(({ kind }) => baseline[kind] + candidate[kind] > 0).map(
    ({ kind, ...reason }) => ({
      ...reason,
      ...(kind === "broken" && baseline.run.manifest.judge && { message: NO_VERDICT }),
      ...{ baseline: baseline[kind], candidate: candidate[kind] },
    }),
  );
}

/** A run with an alarm is not evidence. */
function alarmReasons([baseline, candidate]: readonly [RecountedRun, RecountedRun]): Reason[] {
  const [before, after] = [alarmsOf(baseline), alarmsOf(candidate)];
  const codes = new Set([...before, ...after].map(({ code }) => code));
  return [...codes].sort().map((code) => ({
    code,
    message: [...after, ...before].find((alarm) => alarm.code === code)?.message ?? "",
    baseline: before.some((alarm) => alarm.code === code) ? "alarm" : "no alarm",
    candidate: after.some((alarm) => alarm.code === code) ? "alarm" : "no alarm",
  }));
}

/** Also from the rows, in case the summary was edited. */
function alarmsOf({ run, unstable }: RecountedRun): Run["summary"]["alarms"] {
  const known = run.summary.alarms;
  if (unstable === 0 || known.some(({ code }) => code === NONDETERMINISTIC)) return known;
  return [...known, { code: NONDETERMINISTIC, message: `${unstable} rows are marked unstable.` }];
}

const NONDETERMINISTIC = "nondeterministic_selection";

function notPaired(before: ResultRow | undefined, after: ResultRow | undefined): Reason {
  const named = (row: ResultRow | undefined) =>
    row
      ? `${visible(row.id)}${row.sample === undefined ? "" : `, sample ${row.sample + 1}`}`
      : "no more rows";
  return {
    code: "rows_not_paired",
    message: `The rows do not name the same examples in the same order. The first difference: ${named(before)} in the baseline, ${named(after)} in the candidate.`,
    baseline: before?.id ?? null,
    candidate: after?.id ?? null,
  };
}
