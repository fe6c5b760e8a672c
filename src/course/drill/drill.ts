/** The drill on reading runs: makes the pairs of runs that a seed draws, and marks answers. */

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { usageError } from "../../core/index.ts";
import { openRun } from "../../runs/index.ts";
import { parseFile, writeAtomically } from "../workspace-files.ts";
import { CAUSES, type Cause } from "./causes.ts";
import { casesOf, type DrawnCase } from "./drawn.ts";

const RECORD = "drill.json";
const SCHEMA = "lockedroom.drill@2";

const recordSchema = z.strictObject({
  schema: z.literal(SCHEMA),
  /** Gives the cases and their order. */
  seed: z.int().min(0),
});

/** A case as the learner sees it. */
export interface ShownCase {
  readonly number: number;
  readonly claim: string;
  /** Pass rates of the two runs. */
  readonly before: number;
  readonly after: number;
}

export interface MarkedCase extends ShownCase {
  readonly given: Cause | undefined;
  readonly right: boolean;
  readonly cause: Cause;
  /** The sentence that describes the pair. */
  readonly say: string;
  /** Where it can be read in the two runs. */
  readonly evidence: string;
}

/** Writes the runs of all cases; the folder must be new. */
export async function newDrill(dir: string, seed: number): Promise<ShownCase[]> {
  if (existsSync(dir)) throw usageError(`${dir} exists`, "Choose a new folder for --outdir.");
  for (const [i, one] of casesOf(seed).entries())
    await one.make(path.join(dir, String(i + 1)), one.draw);
  const record = { schema: SCHEMA, seed };
  await writeAtomically(path.join(dir, RECORD), `${JSON.stringify(record)}\n`, { replace: true });
  return Promise.all(casesOf(seed).map((_, i) => shown(dir, i + 1)));
}

/** Marks answers by the number of the case. */
export async function markDrill(
  dir: string,
  answers: ReadonlyMap<number, Cause>,
): Promise<MarkedCase[]> {
  const cases = casesOf(readRecord(dir).seed);
  const unknown = [...answers.keys()].find((number) => cases[number - 1] === undefined);
  if (unknown !== undefined)
    throw usageError(`there is no case ${unknown}`, `The cases are 1 to ${cases.length}.`);
  return Promise.all(
    cases.map(async ({ cause, evidence }, i) => {
      const given = answers.get(i + 1);
      const [before, after] = await runsOf(dir, i + 1);
      return {
        ...(await shown(dir, i + 1)),
        ...{ given, right: given === cause, cause, say: CAUSES[cause].say },
        evidence: await evidence(before, after),
      };
    }),
  );
}

function readRecord(dir: string): z.infer<typeof recordSchema> {
  const file = path.join(dir, RECORD);
  const again = "Make the cases again: lockedroom drill new --outdir FOLDER";
  if (!existsSync(file)) throw usageError(`${dir} has no cases of the drill`, again);
  return parseFile(file, readFileSync(file, "utf8"), recordSchema, {
    conflict: again,
    damaged: again,
  });
}

const runsOf = (dir: string, number: number) =>
  Promise.all(
    (["before", "after"] as const).map((name) => openRun(path.join(dir, String(number), name))),
  ) as Promise<[Awaited<ReturnType<typeof openRun>>, Awaited<ReturnType<typeof openRun>>]>;

async function shown(dir: string, number: number): Promise<ShownCase> {
  const [before, after] = await runsOf(dir, number);
  const claim = (casesOf(readRecord(dir).seed)[number - 1] as DrawnCase).claim;
  const rate = (run: typeof before) => run.summary.metrics.pass_rate ?? 0;
  return { number, claim, before: rate(before), after: rate(after) };
}
