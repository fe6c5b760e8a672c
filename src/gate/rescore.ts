/**
 * Scores a run's rows again. It costs little for a built-in scorer, whose code is here, and for a
 * grader whose JSON the manifest has; it shows rewards that were edited together with all hashes.
 */

import { isFields } from "../core/records.ts";
import {
  type CheckedScore,
  type GuardedScorer,
  MISSING_COMPLETION,
  SCORER_ERROR,
  type ScoreRequest,
} from "../core/score.ts";
import { exampleOf, REPEATED_FIELDS } from "../runs/row-example.ts";
import type { Manifest, ResultRow } from "../runs/schemas.ts";
import { currentCode } from "../scorers/load.ts";
import { openScorer } from "../scorers/open.ts";
import { openRowReplay, otherEnvironment } from "./replay-rows.ts";
import type { Differing, RowCheck } from "./row-check.ts";

const BATCH_ROWS = 256;
const FIRST_IDS = 5;

export class Rescoring implements RowCheck {
  readonly #scorer: GuardedScorer;
  #pending: ResultRow[] = [];
  #rows = 0;
  readonly #firstIds: string[] = [];

  constructor(scorer: GuardedScorer) {
    this.#scorer = scorer;
  }

  get differing(): Differing | null {
    return this.#rows === 0 ? null : { rows: this.#rows, first_ids: this.#firstIds };
  }

  /** True when enough rows wait for `settle`. */
  add(row: ResultRow): boolean {
    // Rows that the scorer failed on are refused for that reason.
    if (row.outcome_code === SCORER_ERROR) return false;
    return this.#pending.push(row) >= BATCH_ROWS;
  }

  async settle(): Promise<void> {
    const rows = this.#pending;
    this.#pending = [];
    const requests = rows.map(requestsOf);
    const scores = (await this.#scorer.scoreBatch(requests.flat())).values();
    for (const [i, row] of rows.entries()) {
      const known = new Map<string, CheckedScore>();
      for (const { completion } of requests[i] as ScoreRequest[])
        known.set(completion, scores.next().value as CheckedScore);
      if (agrees(row, known) || (await this.#agreesWithoutAnswer(row))) continue;
      this.#rows++;
      if (this.#firstIds.length < FIRST_IDS) this.#firstIds.push(row.id);
    }
  }

  /** Scores what is left. */
  async finish(): Promise<void> {
    await this.settle();
    await this.#scorer.close();
  }

  /** A row has null both for an expected answer of null and for none. */
  async #agreesWithoutAnswer(row: ResultRow): Promise<boolean> {
    if (row.expected_answer !== null) return false;
    const requests = requestsOf(row).map(({ example, completion }) => {
      const { expected_answer: _, ...rest } = example;
      return { example: rest, completion };
    });
    const scores = await this.#scorer.scoreBatch(requests);
    return agrees(
      row,
      new Map(requests.map(({ completion }, i) => [completion, scores[i] as CheckedScore])),
    );
  }
}

/** Each text once: the row's own and, of a selection, those of its samples. */
export function requestsOf(row: ResultRow): ScoreRequest[] {
  const { completion, samples } = row;
  const example = exampleOf(row);
  if (samples === undefined) return completion === null ? [] : [{ example, completion }];
  const texts = new Set(samples.map((sample) => sample.completion));
  if (completion !== null) texts.add(completion);
  return [...texts].map((text) => ({ example, completion: text }));
}

function agrees(row: ResultRow, known: ReadonlyMap<string, CheckedScore>): boolean {
  const { completion, details, baseline, samples } = row;
  const first = baseline && samples?.[baseline.index];
  if (baseline && !(first && sameOutcome(baseline, first))) return false;
  if (!(samples ?? []).every((one) => sameScore(one, known.get(one.completion)))) return false;
  if (completion === null) return row.reward === null && row.outcome_code === MISSING_COMPLETION;
  const score = known.get(completion);
  return sameScore(row, score) && sameJson(details, score?.details);
}

/** Follows what the scorer gave, so that no recorded value is too deep to be compared. */
function sameJson(recorded: unknown, given: unknown): boolean {
  if (typeof given !== "object" || given === null) return recorded === given;
  if (Array.isArray(given)) {
    if (!Array.isArray(recorded) || recorded.length !== given.length) return false;
    return given.every((one, i) => sameJson(recorded[i], one));
  }
  if (!isFields(recorded)) return false;
  const members = Object.entries(given).filter(([, value]) => value !== undefined);
  if (members.length !== Object.keys(recorded).length) return false;
  return members.every(([key, value]) => sameJson(recorded[key], value));
}

type Outcome = Pick<ResultRow, "reward" | "outcome_code">;

function sameOutcome(one: Outcome, other: Outcome): boolean {
  return one.reward === other.reward && one.outcome_code === other.outcome_code;
}

function sameScore(one: Outcome, score: CheckedScore | undefined): boolean {
  return score !== undefined && one.reward === score.reward && one.outcome_code === score.code;
}

type Identity = Pick<Manifest, "scorer" | "environment" | "split">;

/** For runs that a scorer, grader or environment of this code scored; otherwise undefined. */
export async function openRescoring(manifest: Identity): Promise<RowCheck | undefined> {
  const { scorer } = manifest;
  if (manifest.environment) return openRowReplay(manifest);
  const opened = scorer.grader ? await recordedGrader(scorer) : await openBuiltIn(scorer);
  return typeof opened === "object" ? new Rescoring(opened) : undefined;
}

/** The built-in that scored, if its code is here and unchanged. */
export async function openBuiltIn(scorer: Manifest["scorer"]): Promise<GuardedScorer | undefined> {
  const here = builtInSource(scorer.name);
  if (here === undefined || here !== scorer.source_sha256) return undefined;
  const opened = await openScorer(scorer.name);
  // The version needs no look: the same code has the same, and a run may state any.
  return opened.identity.deterministic === false ? undefined : opened;
}

/** Says where a built-in scored the rows whose code is not the one here. */
export async function otherBuiltIn(runs: readonly Identity[]): Promise<string[]> {
  for (const manifest of runs) {
    const { scorer } = manifest;
    if (manifest.environment) {
      const found = await otherEnvironment(manifest);
      if (found.length > 0) return found;
      continue;
    }
    if (scorer.grader) {
      const found = await recordedGrader(scorer);
      if (typeof found === "string") return [`The rewards could not be checked: ${found}`];
      continue;
    }
    if (scorer.path !== null || scorer.source !== undefined) continue;
    const here = builtInSource(scorer.name);
    if (here === undefined || here === scorer.source_sha256) continue;
    return [
      `The rewards could not be checked: ${scorer.name} ${scorer.version} had other code when it scored the rows than it has now. Evaluate again to have them checked.`,
    ];
  }
  return [];
}

/** The grader of a manifest, or why it cannot score the rows again. */
async function recordedGrader(scorer: Manifest["scorer"]): Promise<GuardedScorer | string> {
  const { openRecordedGrader } = await import("../scorers/grader-file.ts");
  return openRecordedGrader(scorer, REPEATED_FIELDS);
}

function builtInSource(name: string): string | undefined {
  return currentCode({ name, path: null });
}
