/** One run's rows as they pass, counted again: neither the summary nor the manifest is believed. */

import { SequenceFingerprint } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import { MISSING_COMPLETION, passes, SCORER_ERROR } from "../core/score.ts";
import type { GateReport } from "../runs/gate-report.ts";
import type { JsonlFile } from "../runs/jsonl.ts";
import type { Run } from "../runs/reader.ts";
import { RowCursor } from "../runs/rows.ts";
import type { ResultRow, Summary } from "../runs/schemas.ts";

export class Side extends RowCursor<ResultRow> {
  readonly run: Run;
  readonly #file: JsonlFile<ResultRow>;
  readonly #prompts = new SequenceFingerprint();
  readonly #counts: Record<string, number> = Object.create(null);
  /** Every reward is 0 or 1. */
  binary = true;
  judged = 0;
  missing = 0;
  broken = 0;
  /** Rows on which a selection policy contradicted itself. */
  unstable = 0;
  #passed = 0;
  #rewards = 0;
  #misquoted = false;
  /** Selection only: passes of the first samples, and what the choice made of them. */
  #firstPassed = 0;
  readonly #changed = { rescued: 0, lost: 0 };

  constructor(run: Run) {
    const file = run.results();
    super(file);
    this.run = run;
    this.#file = file;
  }

  count(row: ResultRow | undefined): void {
    if (!row) return;
    const { reward, outcome_code: code } = row;
    this.#prompts.add(JSON.stringify([row.id, row.prompt]));
    this.#counts[code] = (this.#counts[code] ?? 0) + 1;
    if (code === MISSING_COMPLETION) this.missing++;
    else if (code === SCORER_ERROR || reward === null) this.broken++;
    if (row.unstable) this.unstable++;
    if (row.selected && !quotesItsSample(row)) this.#misquoted = true;
    if (reward === null) return;
    this.judged++;
    this.#rewards += reward;
    if (passes(reward)) this.#passed++;
    const before = passes(row.baseline?.reward ?? null);
    if (before) this.#firstPassed++;
    if (before !== passes(reward)) this.#changed[before ? "lost" : "rescued"]++;
    if (reward !== 0 && reward !== 1) this.binary = false;
  }

  /** Which of the run's files is not what was written; empty when all are. */
  edited(): string[] {
    const { summary, manifest, manifestIntact } = this.run;
    const { metrics } = summary;
    const { pass_rate, mean_reward, n_scored } = this.report();
    const recounted =
      canonicalJson([
        metrics.pass_rate,
        metrics.mean_reward,
        metrics.n_scored,
        metrics.n_examples,
      ]) === canonicalJson([pass_rate, mean_reward, n_scored, this.#file.rows]) &&
      metrics.n_pass === this.#passed &&
      this.#selectionAgrees(metrics) &&
      canonicalJson(summary.outcomes.counts) === canonicalJson({ ...this.#counts });
    const whole =
      this.#file.sha256 === summary.results_sha256 &&
      this.#file.rows === manifest.examples.count &&
      this.#prompts.digest() === manifest.examples.prompts_sha256 &&
      !this.#misquoted;
    return [
      ...(manifestIntact ? [] : ["manifest.json"]),
      ...(whole ? [] : ["results.jsonl"]),
      ...(recounted ? [] : ["summary.json"]),
    ];
  }

  #selectionAgrees({ pass_at_1: first, rescued, lost }: Summary["metrics"]): boolean {
    if (this.run.manifest.loop !== "B") return true;
    const counted = this.judged === 0 ? null : this.#firstPassed / this.judged;
    return first === counted && rescued === this.#changed.rescued && lost === this.#changed.lost;
  }

  report(): GateReport["baseline"] {
    const judged = this.judged;
    return {
      run: this.run.dir,
      pass_rate: judged === 0 ? null : this.#passed / judged,
      mean_reward: judged === 0 ? null : this.#rewards / judged,
      n_scored: judged,
    };
  }
}

/** A selected row repeats the sample that it chose, reward and all. */
function quotesItsSample({
  selected,
  samples,
  completion,
  reward,
  outcome_code: code,
}: ResultRow): boolean {
  const sample = samples?.[selected?.index ?? -1];
  return (
    sample?.completion === completion && sample.reward === reward && sample.outcome_code === code
  );
}
