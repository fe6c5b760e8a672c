/** The runs and gate reports of a workspace, and which of them may count as evidence. */

import path from "node:path";
import { messageOf } from "../core/index.ts";
import { type GateOptions, gate } from "../gate/index.ts";
import { type GateReport, gateReportSchema, openRun, type Run } from "../runs/index.ts";
import { sameVerdict } from "./gate-report.ts";
import { copiedFrom, RunJudge } from "./sound-run.ts";
import { filesBelow, realInside, recorded, textOf } from "./workspace-files.ts";

export interface KnownRun {
  /** From the workspace's root: runs/first. */
  readonly path: string;
  readonly run: Run;
}

export interface KnownReport {
  readonly path: string;
  /** As it was saved; of what it says, only the verdict is held against the gate. */
  readonly report: GateReport;
}

interface Compared {
  readonly baseline: KnownRun;
  readonly candidate: KnownRun;
  /** What the gate says of them now. */
  readonly report: GateReport;
}

export class Shelf {
  readonly dir: string;
  readonly runs: readonly KnownRun[];
  readonly reports: readonly KnownReport[];
  /** Folders that look like runs and cannot be opened, with the reason. */
  readonly unreadable: readonly { readonly path: string; readonly problem: string }[];
  readonly #judge: RunJudge;
  readonly #problems = new Map<string, Promise<string | undefined>>();
  readonly #comparisons = new Map<string, Promise<Compared | string>>();

  private constructor(dir: string, found: Pick<Shelf, "runs" | "reports" | "unreadable">) {
    this.dir = dir;
    this.#judge = new RunJudge(dir);
    this.runs = found.runs;
    this.reports = found.reports;
    this.unreadable = found.unreadable;
  }

  static async read(dir: string): Promise<Shelf> {
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
    return new Shelf(dir, { runs, unreadable, reports: readReports(dir, loose) });
  }

  #runAt(target: string): KnownRun | undefined {
    return this.runs.find(({ path: known }) => known === target);
  }

  /** Why a run is no evidence, if it is none; asked once. */
  problemOf({ path: name, run }: KnownRun): Promise<string | undefined> {
    const known = this.#problems.get(name) ?? this.#judge.judge(run).then(({ problem }) => problem);
    this.#problems.set(name, known);
    return known;
  }

  /** The first run of those that a test lets through and that is evidence. */
  async firstSound(wanted: (run: KnownRun) => boolean): Promise<KnownRun | undefined> {
    for (const known of this.runs) {
      if (wanted(known) && (await this.problemOf(known)) === undefined) return known;
    }
    return undefined;
  }

  /** The two runs that a report speaks of, or why it does not hold: the gate is asked again. */
  compared(known: KnownReport): Promise<Compared | string> {
    const answer = this.#comparisons.get(known.path) ?? this.#compareAgain(known);
    this.#comparisons.set(known.path, answer);
    return answer;
  }

  async #compareAgain({ path: name, report }: KnownReport): Promise<Compared | string> {
    const [baseline, candidate] = [
      this.#named(report.baseline.run),
      this.#named(report.candidate.run),
    ];
    if (!baseline || !candidate) {
      const lost = baseline ? report.candidate.run : report.baseline.run;
      return `${name} names ${lost}, which is not a finished run of this workspace`;
    }
    for (const { path: known, run } of [baseline, candidate]) {
      const original = copiedFrom(run);
      if (original !== undefined) return `${name} compares ${known}, a copy of ${original}`;
    }
    const again = await askAgain({
      baseline: baseline.run.dir,
      candidate: candidate.run.dir,
      minDelta: report.min_delta,
      alpha: report.alpha,
      claim: report.claim ?? undefined,
    });
    if (typeof again === "string") return `${name} cannot be checked: ${again}`;
    if (sameVerdict(again, report)) return { baseline, candidate, report: again };
    return `${name} says ${report.decision}, and the gate says ${again.decision} of the same runs with other figures: they changed since`;
  }

  /** A report names runs as they were typed; a workspace that moved keeps what follows `runs/`. */
  #named(typed: string): KnownRun | undefined {
    const real = realInside(this.dir, path.resolve(this.dir, typed));
    const direct = real === undefined ? undefined : this.#runAt(recorded(this.dir, real));
    const tail = /(?:^|[\\/])(runs[\\/].*?)[\\/]*$/.exec(typed)?.[1]?.replaceAll("\\", "/");
    return direct ?? (tail === undefined ? undefined : this.#runAt(tail));
  }
}

const RUN_FILE = /\/(?:manifest|summary)\.json$/;

function readReports(dir: string, files: readonly string[]): KnownReport[] {
  return files
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => {
      const parsed = gateReportSchema.safeParse(jsonOf(textOf(dir, file)));
      return parsed.success ? [{ path: file, report: parsed.data }] : [];
    });
}

/** Undefined for what is no JSON. */
function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The verdict, or why the gate cannot read the runs: damaged files must not end the whole plan. */
async function askAgain(options: GateOptions): Promise<GateReport | string> {
  try {
    return await gate(options);
  } catch (error) {
    return messageOf(error);
  }
}
