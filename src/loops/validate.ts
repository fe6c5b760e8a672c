/**
 * Checks a scorer before it is used: golden rows with known rewards, then probes for totality (it
 * always returns a score) and determinism.
 */

import { dataError } from "../core/errors.ts";
import { canonicalJson } from "../core/json.ts";
import {
  type Example,
  type ExampleFields,
  type GoldenRow,
  toExample,
  toGoldenRow,
} from "../core/records.ts";
import {
  type CheckedScore,
  type GuardedScorer,
  INVALID_EXAMPLE,
  SCORER_ERROR,
  type ScoreRequest,
  type ScorerIdentity,
} from "../core/score.ts";
import { openRows, type RowSource, type Rows } from "../runs/rows.ts";
import { VALIDATION_SCHEMA, type ValidationReport } from "../runs/validation-report.ts";
import { withScorer } from "../scorers/open.ts";
import { type Probe, probesOf } from "./probes.ts";
import type { ScoringOptions } from "./scoring-run.ts";

/** What `validateScorer` is given. @see {@link validateScorer} */
export interface ValidateOptions<F extends object = ExampleFields> extends ScoringOptions<F> {
  readonly golden: RowSource<GoldenRow>;
}

export type GoldenVerdict =
  | "agrees"
  /** The reward is too high: a loophole. */
  | "false_positive"
  /** The reward is too low: correct work is punished. */
  | "false_negative"
  | "scorer_error";

/** What `validateScorer` found. @see {@link validateScorer} */
export interface GoldenReport {
  readonly rows: readonly {
    readonly golden: GoldenRow;
    readonly score: CheckedScore;
    readonly verdict: GoldenVerdict;
  }[];
  readonly counts: Record<GoldenVerdict, number>;
  /** How many calls of each kind were made besides the golden rows. */
  readonly probes: Record<ProbeKind, number>;
  readonly probeFailures: readonly ProbeFailure[];
  /** Of what was read. */
  readonly dataset_sha256: string;
  readonly golden_sha256: string;
  /** True when every row agrees and every probe was survived. */
  readonly valid: boolean;
}

/** An odd completion, an odd field of an example, or a golden row once more. */
export type ProbeKind = Probe["probe"] | "determinism";

export interface ProbeFailure {
  readonly probe: ProbeKind;
  /** The field of the example that held the odd value. */
  readonly field?: string;
  /** The odd value in a few words; of a repeated golden row its id. */
  readonly value: string;
  readonly input: ScoreRequest;
  readonly message: string;
}

/**
 * Checks a scorer against golden rows, and probes it for totality and determinism.
 * @example
 * ```ts
 * import { validateScorer } from "lockedroom";
 * const report = await validateScorer({ dataset: "dataset.jsonl", golden: "golden.jsonl" });
 * for (const { golden, verdict } of report.rows) console.log(golden.id, verdict);
 * ```
 */
export async function validateScorer<F extends object = ExampleFields>(
  options: ValidateOptions<F>,
): Promise<GoldenReport> {
  return withScorer(options.scorer, options, (scorer) => validateWith(scorer, options));
}

async function validateWith<F extends object>(
  scorer: GuardedScorer,
  options: ValidateOptions<F>,
): Promise<GoldenReport> {
  const goldenRows = openRows(options.golden, "golden rows", toGoldenRow, options);
  const dataset = openRows(options.dataset, "dataset", toExample, options);
  const golden = await readAll(goldenRows);
  if (golden.length === 0)
    throw dataError(`${goldenRows.label} is empty`, "Give at least one golden row.");
  const examples = await findExamples(dataset, goldenRows, golden);
  const inputs = golden.map(({ id, completion }) => ({
    example: examples.get(id) as Example,
    completion,
  }));
  const scores = await scorer.scoreBatch(inputs);
  const rows = golden.map((row, index) => {
    const score = scores[index] as CheckedScore;
    return { golden: row, score, verdict: compare(row, score) };
  });
  const counts = { agrees: 0, false_positive: 0, false_negative: 0, scorer_error: 0 };
  for (const { verdict } of rows) counts[verdict]++;

  const odd = probesOf(inputs);
  const failures = [
    ...(await determinismFailures(scorer, inputs, scores)),
    ...(await totalityFailures(scorer, odd)),
  ];
  return {
    rows,
    counts,
    probes: {
      completion: odd.filter(({ probe }) => probe === "completion").length,
      example_field: odd.filter(({ probe }) => probe === "example_field").length,
      determinism: scorer.identity.deterministic === false ? 0 : inputs.length,
    },
    probeFailures: failures,
    dataset_sha256: dataset.sha256,
    golden_sha256: goldenRows.sha256,
    valid: counts.agrees === rows.length && failures.length === 0,
  };
}

/** The findings as they are written to a file. */
export function validationReport(
  report: GoldenReport,
  { name, version, source_sha256 }: ScorerIdentity,
): ValidationReport {
  return {
    schema: VALIDATION_SCHEMA,
    valid: report.valid,
    scorer: { name, version, source_sha256 },
    dataset_sha256: report.dataset_sha256,
    golden_sha256: report.golden_sha256,
    counts: report.counts,
    probes: {
      completion: probeCounts(report, "completion"),
      example_field: probeCounts(report, "example_field"),
      determinism: probeCounts(report, "determinism"),
    },
    disagreements: report.rows
      .filter(({ verdict }) => verdict !== "agrees")
      .map(({ golden, score: { reward, code } }) => {
        const { id, completion, expected_reward } = golden;
        return { id, completion, expected_reward, reward, code };
      }),
  };
}

export function probeCounts({ probes, probeFailures }: GoldenReport, kind: ProbeKind) {
  const failed = probeFailures.filter(({ probe }) => probe === kind).length;
  return { tried: probes[kind], failed };
}

function compare(golden: GoldenRow, { reward, code }: CheckedScore): GoldenVerdict {
  // Of an example that no scorer can read, "not rewarded" is all that a golden row can settle.
  if (code === INVALID_EXAMPLE) return golden.expected_reward === 0 ? "agrees" : "false_negative";
  if (reward === null) return "scorer_error";
  if (reward === golden.expected_reward) return "agrees";
  return reward > golden.expected_reward ? "false_positive" : "false_negative";
}

async function readAll<T>(file: Rows<T>): Promise<T[]> {
  const rows: T[] = [];
  for await (const batch of file.batches()) rows.push(...batch);
  return rows;
}

async function findExamples(
  dataset: Rows<Example>,
  goldenRows: Rows<GoldenRow>,
  golden: readonly GoldenRow[],
): Promise<Map<string, Example>> {
  const wanted = new Set(golden.map(({ id }) => id));
  const found = new Map<string, Example>();
  for await (const batch of dataset.batches()) {
    for (const example of batch) {
      if (!wanted.has(example.id)) continue;
      if (found.has(example.id)) {
        throw dataError(
          `${dataset.label}: the id "${example.id}" appears more than once`,
          "Give every row an id of its own.",
        );
      }
      found.set(example.id, example);
    }
  }
  const lost = [...wanted].filter((id) => !found.has(id));
  if (lost.length > 0) {
    throw dataError(
      `${goldenRows.label}: ${lost.length} ids are not in ${dataset.label} (${lost.slice(0, 5).join(", ")})`,
      "A golden row's id names the example it answers.",
    );
  }
  return found;
}

/** The same rows in reverse order must get the same answers. */
async function determinismFailures(
  scorer: GuardedScorer,
  inputs: readonly ScoreRequest[],
  before: readonly CheckedScore[],
): Promise<ProbeFailure[]> {
  if (scorer.identity.deterministic === false) return [];
  const after = (await scorer.scoreBatch(inputs.toReversed())).toReversed();
  return inputs.flatMap((input, index) =>
    canonicalJson(before[index]) === canonicalJson(after[index])
      ? []
      : [
          {
            ...{ probe: "determinism" as const, value: input.example.id, input },
            message: "another answer on the second call",
          },
        ],
  );
}

async function totalityFailures(
  scorer: GuardedScorer,
  odd: readonly Probe[],
): Promise<ProbeFailure[]> {
  const scores = await scorer.scoreBatch(odd.map(({ input }) => input));
  return odd.flatMap((probe, index) => {
    const score = scores[index];
    if (score?.code !== SCORER_ERROR) return [];
    const { message } = score.details as { message: string };
    return [{ ...probe, message: String(message) }];
  });
}
