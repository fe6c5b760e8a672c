/** The rows of an evaluation as they are scored, whoever scores them, and the run that they make. */

import { SequenceFingerprint } from "../core/fingerprint.ts";
import { MANIFEST_SCHEMA, RESULTS } from "../runs/artifacts.ts";
import type { LineFile } from "../runs/line-files.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import type { Manifest, ResultRow, Summary } from "../runs/schemas.ts";
import { type FinishedRun, finishScoredRun } from "../runs/scored-run.ts";
import { describedAxes, type OpenAxis } from "./axes.ts";
import { rowJson } from "./row.ts";
import type { JoinedRun } from "./scoring-run.ts";
import { Tally } from "./tally.ts";

/** What the run says besides its rows. */
export interface EvaluationEnd {
  readonly axes: readonly OpenAxis[];
  readonly fields: readonly string[];
  readonly repeats: number | undefined;
  readonly settings: Manifest["settings"];
  /** What the manifest says besides; a judge takes the place of the scorer. */
  readonly described?:
    | Partial<Pick<Manifest, "environment" | "split" | "solved" | "judge" | "scorer">>
    | undefined;
  readonly failures?: Summary["failures"];
  /** Of a judged run. */
  readonly judge?: Summary["judge"];
  readonly traffic?: Manifest["volatile"]["judge"];
  readonly title?: string;
}

export class EvaluationRows {
  readonly #folder: RunFolder;
  readonly #results: LineFile;
  readonly #answered = new SequenceFingerprint();
  readonly #tally = new Tally();

  private constructor(folder: RunFolder, results: LineFile) {
    this.#folder = folder;
    this.#results = results;
  }

  static async open(folder: RunFolder): Promise<EvaluationRows> {
    return new EvaluationRows(folder, await folder.lines(RESULTS));
  }

  async add(rows: readonly ResultRow[]): Promise<void> {
    for (const row of rows) {
      this.#tally.add(row);
      this.#answered.add(JSON.stringify([row.id, row.completion]));
      this.#results.add(rowJson(row));
    }
    await this.#results.flush();
  }

  /** `known` is what `describe` says of the run. */
  async finish(
    { unknown }: Pick<JoinedRun<unknown>, "unknown">,
    { volatile, ...known }: Awaited<ReturnType<JoinedRun<unknown>["describe"]>>,
    { axes, fields, repeats, settings, described, failures, judge, traffic, title }: EvaluationEnd,
  ): Promise<FinishedRun> {
    const tally = this.#tally;
    return finishScoredRun(this.#folder, {
      manifest: {
        ...known,
        volatile: { ...volatile, ...(traffic && { judge: traffic }) },
        ...{ schema: MANIFEST_SCHEMA, loop: "A", command: judge ? "judge score" : "eval" },
        ...described,
        ...describedAxes(axes),
        answers_sha256: this.#answered.digest(),
        ...{ selection: null, learning: null, device: null },
        settings: {
          ...settings,
          ...(fields.length > 0 && { slice: [...fields] }),
          ...(repeats !== undefined && { repeats }),
        },
      },
      findings: {
        metrics: { ...tally.metrics, ...(repeats !== undefined && { repeats }) },
        outcomes: { counts: { ...tally.counts } },
        ...(tally.slices && { slices: tally.slices }),
        ...(tally.axes && { axes: tally.axes }),
        ...(tally.episodes && { episodes: tally.episodes }),
        ...(failures && { failures }),
        ...(judge && { judge }),
        unknown_completions: unknown,
        alarms: [],
      },
      title: title ?? "Evaluation",
      happened: tally.sentence,
      concrete: tally.twoExamples,
    });
  }
}
