/** Counts a run's rows again as they are read, to check its summary and manifest against them. */

import { ENVIRONMENT_ERROR } from "../core/environment.ts";
import { SequenceFingerprint } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import {
  hasPassed,
  INVALID_EXAMPLE,
  isSolved,
  MISSING_COMPLETION,
  SCORER_ERROR,
} from "../core/score.ts";
import type { GateReport } from "../runs/gate-report.ts";
import type { JsonlFile } from "../runs/jsonl.ts";
import type { Run } from "../runs/reader.ts";
import { RowCursor } from "../runs/rows.ts";
import type { ResultRow, Summary } from "../runs/schemas.ts";
import { AxisMeans } from "../stats/axis-means.ts";
import { EpisodeMeans } from "../stats/episode-means.ts";
import { SliceRates } from "../stats/slice-rates.ts";

export class RecountedRun extends RowCursor<ResultRow> {
  readonly run: Run;
  readonly #file: JsonlFile<ResultRow>;
  readonly #prompts = new SequenceFingerprint();
  readonly #answers: SequenceFingerprint | undefined;
  readonly #counts: Record<string, number> = Object.create(null);
  /** Every reward is 0 or 1, and 1 is what passes. */
  binary = true;
  lowest = Number.POSITIVE_INFINITY;
  highest = Number.NEGATIVE_INFINITY;
  scored = 0;
  missing = 0;
  broken = 0;
  invalid = 0;
  /** Episodes of an environment that gives no reward. */
  unrewarded = 0;
  /** Rows on which a selection rule gave two different answers. */
  unstable = 0;
  #passed = 0;
  /** Rows that begin an example; with --repeats further samples follow. */
  #examples = 0;
  readonly #slices = new SliceRates();
  readonly #axes = new AxisMeans();
  readonly #episodes = new EpisodeMeans();
  #rewards = 0;
  #inconsistent = false;
  /** Selection only: passes of the first samples, and how the selection changed them. */
  #firstPassed = 0;
  readonly #changed = { rescued: 0, lost: 0 };

  constructor(run: Run) {
    const file = run.results();
    super(file);
    this.run = run;
    this.#file = file;
    if (run.manifest.answers_sha256 !== null) this.#answers = new SequenceFingerprint();
  }

  count(row: ResultRow | undefined): void {
    if (!row) return;
    const { reward, outcome_code: code } = row;
    if ((row.sample ?? 0) === 0) {
      this.#examples++;
      this.#prompts.add(JSON.stringify([row.id, row.prompt]));
    }
    this.#slices.add(row.slices, { reward, passed: hasPassed(row), sample: row.sample });
    this.#axes.add(row.axes, row.sample);
    this.#episodes.add(row.episode);
    this.#answers?.add(JSON.stringify([row.id, row.completion]));
    this.#counts[code] = (this.#counts[code] ?? 0) + 1;
    if (code === MISSING_COMPLETION) this.missing++;
    else if (code === INVALID_EXAMPLE && reward === null) this.invalid++;
    else if (code === SCORER_ERROR) this.broken++;
    else if (reward === null && row.episode && code !== ENVIRONMENT_ERROR) this.unrewarded++;
    else if (reward === null) this.broken++;
    if (row.unstable) this.unstable++;
    if (row.selected && !matchesItsSample(row)) this.#inconsistent = true;
    if (!passesByCode(row, this.run.manifest.solved)) this.#inconsistent = true;
    if (reward === null) return;
    this.scored++;
    this.#rewards += reward;
    const passed = hasPassed(row);
    if (passed) this.#passed++;
    const before = row.baseline !== undefined && hasPassed(row.baseline);
    if (before) this.#firstPassed++;
    if (before !== passed) this.#changed[before ? "lost" : "rescued"]++;
    if (reward !== Number(passed)) this.binary = false;
    this.lowest = Math.min(this.lowest, reward);
    this.highest = Math.max(this.highest, reward);
  }

  /** The hash of the answers in the rows, where it is not the one in the manifest. */
  otherAnswers(): string | null {
    const counted = this.#answers?.digest() ?? null;
    return counted === this.run.manifest.answers_sha256 ? null : counted;
  }

  /** The files that differ from what the command wrote; empty when none does. */
  editedFiles(): string[] {
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
      canonicalJson(summary.slices ?? null) === canonicalJson(this.#slices.table() ?? null) &&
      canonicalJson(summary.axes ?? null) === canonicalJson(this.#axes.table() ?? null) &&
      canonicalJson(summary.episodes ?? null) === canonicalJson(this.#episodes.table() ?? null) &&
      canonicalJson(summary.outcomes.counts) === canonicalJson({ ...this.#counts });
    const whole =
      this.#file.sha256 === summary.results_sha256 &&
      this.#examples === manifest.examples.count &&
      this.#prompts.digest() === manifest.examples.prompts_sha256 &&
      this.#axesAgree() &&
      !this.#inconsistent;
    return [
      ...(manifestIntact ? [] : ["manifest.json"]),
      ...(whole ? [] : ["results.jsonl"]),
      ...(recounted ? [] : ["summary.json"]),
    ];
  }

  /** Every row is measured on the axes that the manifest names, and on no other. */
  #axesAgree(): boolean {
    const named = (this.run.manifest.axes ?? []).map(({ name }) => name);
    const found = this.#axes.table() ?? {};
    const rows = Object.values(found).map(({ codes }) =>
      Object.values(codes).reduce((sum, count) => sum + count, 0),
    );
    const isWhole = rows.every((count) => count === this.#file.rows);
    return (
      isWhole &&
      (this.#file.rows === 0 || canonicalJson(named) === canonicalJson(Object.keys(found)))
    );
  }

  #selectionAgrees({ pass_at_1: first, rescued, lost }: Summary["metrics"]): boolean {
    if (this.run.manifest.loop !== "B") return true;
    const counted = this.scored === 0 ? null : this.#firstPassed / this.scored;
    return first === counted && rescued === this.#changed.rescued && lost === this.#changed.lost;
  }

  report(): GateReport["baseline"] {
    const scored = this.scored;
    return {
      run: this.run.dir,
      pass_rate: scored === 0 ? null : this.#passed / scored,
      mean_reward: scored === 0 ? null : this.#rewards / scored,
      n_scored: scored,
    };
  }
}

/** What an episode says of its pass is what its code says. */
function passesByCode(row: ResultRow, solved: readonly string[] = []): boolean {
  return [row, row.baseline, row.selected, ...(row.samples ?? [])].every(
    (one) =>
      one?.passed === undefined ||
      one.passed === isSolved({ reward: one.reward, code: one.outcome_code }, solved),
  );
}

/** A selected row repeats the sample that it chose, reward and all. */
function matchesItsSample(row: ResultRow): boolean {
  const sample = row.samples?.[row.selected?.index ?? -1];
  return (["completion", "reward", "outcome_code", "passed"] as const).every(
    (field) => sample?.[field] === row[field],
  );
}

/** The files of a run that were changed after it was written; empty when none was. */
export async function editedFiles(run: Run): Promise<string[]> {
  const recount = new RecountedRun(run);
  try {
    for (let row = await recount.read(); row; row = recount.buffered() ?? (await recount.read())) {
      recount.count(row);
    }
  } finally {
    await recount.close();
  }
  const others: string[] = [];
  for (const [name, hash] of Object.entries(run.summary.files)) {
    if ((await run.hashOf(name)) !== hash) others.push(name);
  }
  const edited = recount.editedFiles();
  if (recount.otherAnswers() !== null) edited.push("results.jsonl");
  return [...new Set(edited), ...others];
}
