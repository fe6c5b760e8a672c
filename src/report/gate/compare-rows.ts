/** The rows of both runs of a verdict side by side: the first flips, and which outcomes moved where. */

import { LockedRoomError } from "../../core/errors.ts";
import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { RecountedRun } from "../../gate/recount.ts";
import type { GateReport } from "../../runs/gate-report.ts";
import { openRun } from "../../runs/reader.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { type Business, type BusinessOptions, businessOfScored } from "../business/business.ts";
import { FailureModes } from "../failures/rows/failure-modes.ts";
import { RowGroups } from "../page/row-groups.ts";
import { editedOf } from "../scored/edited.ts";
import { flipArticle } from "./flip.ts";
import { type RateEstimate, RateOfPrompts } from "./rate-of-prompts.ts";

/** Of each direction. */
const FLIPS_SHOWN = 20;
/** Runs with another code on every row still take little memory. */
const MAX_MOVES = 1000;

export interface Move {
  readonly from: string;
  readonly to: string;
  count: number;
}

export interface ComparedRows {
  readonly manifests: readonly JsonObject[];
  /** Of the baseline and the candidate. */
  readonly business: readonly Business[];
  readonly pairs: number;
  readonly flips: RowGroups;
  readonly moves: readonly Move[];
  /** Of the baseline and of the candidate. */
  readonly modes: readonly [FailureModes, FailureModes];
  /** False for tabular experiments. */
  readonly isText: boolean;
  /** Pass rates of the baseline and of the candidate, each by itself. */
  readonly rates: readonly [RateEstimate, RateEstimate];
  /** Reasons not to take these rows for those of the verdict. */
  readonly warnings: readonly string[];
}

/** A sentence where the runs cannot be read. */
export async function compareRows(
  verdict: GateReport,
  options: BusinessOptions,
): Promise<ComparedRows | string> {
  try {
    return await readBoth(verdict, options);
  } catch (error) {
    if (error instanceof LockedRoomError) return error.message;
    throw error;
  }
}

async function readBoth(verdict: GateReport, options: BusinessOptions): Promise<ComparedRows> {
  const runs = [await openRun(verdict.baseline.run), await openRun(verdict.candidate.run)] as const;
  const [before, after] = [new RecountedRun(runs[0]), new RecountedRun(runs[1])];
  const flips = new RowGroups(FLIPS_SHOWN);
  const moves = new Moves();
  const modes = [new FailureModes(runs[0].manifest), new FailureModes(runs[1].manifest)] as const;
  const rates = [new RateOfPrompts(verdict), new RateOfPrompts(verdict)] as const;
  let pairs = 0;
  let isPaired = true;
  try {
    for (;;) {
      const was = before.buffered() ?? (await before.read());
      const is = after.buffered() ?? (await after.read());
      if (!was && !is) break;
      before.count(was);
      after.count(is);
      if (was) modes[0].add(was);
      if (is) modes[1].add(is);
      if (was) rates[0].add(was);
      if (is) rates[1].add(is);
      isPaired &&= was?.id === is?.id;
      if (!was || !is || !isPaired) continue;
      pairs++;
      moves.add(was.outcome_code, is.outcome_code);
      const direction = flipOf(was, is);
      if (direction) flips.add(direction, () => flipArticle(was, is));
    }
  } finally {
    await before.close();
    await after.close();
  }
  const edited = [await editedOf(before), await editedOf(after)];
  const business: Business[] = [];
  for (const run of runs) business.push(await businessOfScored(run, options));
  return {
    manifests: runs.map(({ manifest }) => JSON.parse(canonicalJson(manifest))),
    ...{ pairs, flips, moves: moves.sorted, modes, business },
    isText: runs.every(({ manifest }) => manifest.loop !== "C"),
    rates: [rates[0].estimate, rates[1].estimate],
    warnings: [
      ...(isSame(verdict, before, after, flips)
        ? []
        : ["The runs are not what they were when the gate decided. Decide again with gate."]),
      ...["baseline", "candidate"].flatMap((name, i) =>
        edited[i]?.length
          ? [`The ${name} was edited after it was written: ${edited[i]?.join(", ")}.`]
          : [],
      ),
    ],
  };
}

function flipOf(was: ResultRow, is: ResultRow): "gained" | "lost" | undefined {
  if (was.reward === null || is.reward === null || was.reward === is.reward) return undefined;
  return is.reward > was.reward ? "gained" : "lost";
}

/** Whether rates and flips are those of the verdict. */
function isSame(
  { baseline, candidate, flips }: GateReport,
  before: RecountedRun,
  after: RecountedRun,
  counted: RowGroups,
): boolean {
  const sides = [baseline, candidate].map(({ run: _, ...figures }) => figures);
  const now = [before.report(), after.report()].map(({ run: _, ...figures }) => figures);
  const count = (name: string) => counted.all.find((group) => group.name === name)?.count ?? 0;
  return (
    canonicalJson(sides) === canonicalJson(now) &&
    (flips === null || (flips.gained === count("gained") && flips.lost === count("lost")))
  );
}

class Moves {
  readonly #moves = new Map<string, Move>();

  add(from: string, to: string): void {
    if (from === to) return;
    const key = JSON.stringify([from, to]);
    const move = this.#moves.get(key);
    if (move) move.count++;
    else if (this.#moves.size < MAX_MOVES) this.#moves.set(key, { from, to, count: 1 });
  }

  get sorted(): Move[] {
    return [...this.#moves.entries()]
      .sort(([a, m], [b, n]) => n.count - m.count || (a < b ? -1 : 1))
      .map(([, move]) => move);
  }
}
