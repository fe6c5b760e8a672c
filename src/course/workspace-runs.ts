/** The runs and gate reports of a workspace, and which of them count as evidence. */

import path from "node:path";
import { messageOf } from "../core/index.ts";
import { gate } from "../gate/index.ts";
import { type GateReport, gateReportSchema, openRun, type Run } from "../runs/index.ts";
import { parseJson, sameVerdict } from "./evidence.ts";
import { copiedFrom, RunVerifier } from "./run-verifier.ts";
import { filesBelow, memoize, realInside, textOf, workspacePath } from "./workspace-files.ts";

export interface KnownRun {
  /** Workspace path: runs/first. */
  readonly path: string;
  readonly run: Run;
}

export interface KnownReport {
  readonly path: string;
  /** As saved; only its verdict is compared with the gate. */
  readonly report: GateReport;
}

export class WorkspaceRuns {
  readonly dir: string;
  readonly runs: readonly KnownRun[];
  readonly reports: readonly KnownReport[];
  /** Run folders that cannot be opened, with the reason. */
  readonly unreadable: readonly { readonly path: string; readonly problem: string }[];
  readonly #verifier: RunVerifier;

  private constructor(dir: string, found: Pick<WorkspaceRuns, "runs" | "reports" | "unreadable">) {
    this.dir = dir;
    this.#verifier = new RunVerifier(dir);
    this.runs = found.runs;
    this.reports = found.reports;
    this.unreadable = found.unreadable;
  }

  static async read(dir: string): Promise<WorkspaceRuns> {
    const files = await filesBelow(dir, "runs");
    const folders = [
      ...new Set(
        files.filter((file) => RUN_FILE.test(file)).map((file) => path.posix.dirname(file)),
      ),
    ].filter((folder) => folder !== "runs");
    const runs: KnownRun[] = [];
    const unreadable: { path: string; problem: string }[] = [];
    for (const folder of folders) {
      try {
        runs.push({ path: folder, run: await openRun(path.join(dir, folder)) });
      } catch (error) {
        unreadable.push({ path: folder, problem: messageOf(error) });
      }
    }
    const loose = files.filter((file) => !folders.some((folder) => file.startsWith(`${folder}/`)));
    return new WorkspaceRuns(dir, { runs, unreadable, reports: readReports(dir, loose) });
  }

  #runAt(target: string): KnownRun | undefined {
    return this.runs.find(({ path: known }) => known === target);
  }

  /** Why a run is not evidence; undefined for one that is. */
  readonly problemOf = memoize(
    async ({ run }: KnownRun) => (await this.#verifier.verify(run)).problem,
    ({ path: name }) => name,
  );

  /** The first valid run that passes a test. */
  async firstValid(wanted: (run: KnownRun) => boolean): Promise<KnownRun | undefined> {
    for (const known of this.runs) {
      if (wanted(known) && (await this.problemOf(known)) === undefined) return known;
    }
    return undefined;
  }

  /** The two runs that a report compares, or why it is not valid: the gate compares them again. */
  readonly compared = memoize(
    (known: KnownReport) => this.#compareAgain(known),
    ({ path: name }) => name,
  );

  async #compareAgain({ path: name, report }: KnownReport) {
    const [baseline, candidate] = [report.baseline, report.candidate].map(({ run }) =>
      this.#named(run),
    );
    if (!baseline || !candidate) {
      const lost = baseline ? report.candidate.run : report.baseline.run;
      return `${name} names ${lost}, which is not a finished run of this workspace`;
    }
    for (const { path: known, run } of [baseline, candidate]) {
      const original = copiedFrom(run);
      if (original !== undefined) return `${name} compares ${known}, a copy of ${original}`;
    }
    const runs = { baseline: baseline.run.dir, candidate: candidate.run.dir };
    const { min_delta: minDelta, alpha, claim, margin, slices, axes, allowed = [] } = report;
    try {
      const again = await gate({
        ...{ ...runs, minDelta, alpha, claim: claim ?? undefined, margin },
        ...{ slice: slices?.field, sliceMargin: slices?.margin },
        axisMargins: Object.fromEntries(axes?.values.map((one) => [one.name, one.margin]) ?? []),
        allowDev: allowed.includes("measured_on_validation_data"),
        allowUnknownHistory: allowed.includes("history_unknown"),
      });
      if (sameVerdict(again, report)) return { baseline, candidate, report: again };
      return `${name} says ${report.decision}, and the gate now says ${again.decision} with other figures: the runs changed`;
    } catch (error) {
      return `${name} cannot be checked: ${messageOf(error)}`;
    }
  }

  /** A report has paths as they were typed; in a moved workspace the part from `runs/` is right. */
  #named(typed: string): KnownRun | undefined {
    const real = realInside(this.dir, path.resolve(this.dir, typed));
    const direct = real === undefined ? undefined : this.#runAt(workspacePath(this.dir, real));
    const tail = /(?:^|[\\/])(runs[\\/].*?)[\\/]*$/.exec(typed)?.[1]?.replaceAll("\\", "/");
    return direct ?? (tail === undefined ? undefined : this.#runAt(tail));
  }
}

const RUN_FILE = /\/(?:manifest|summary)\.json$/;

function readReports(dir: string, files: readonly string[]): KnownReport[] {
  return files
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => {
      const { success, data } = gateReportSchema.safeParse(parseJson(textOf(dir, file)));
      return success ? [{ path: file, report: data }] : [];
    });
}
