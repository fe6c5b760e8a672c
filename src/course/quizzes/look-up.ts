/** Where answers are found: numbers of a run, lines of its log, the gate's word on two runs. */

import { canonicalJson, type Json, type Knob, type ScoreResult } from "../../core/index.ts";
import { gate } from "../../gate/index.ts";
import type { GateReport, Manifest, Run } from "../../runs/index.ts";
import { score } from "../../scorers/index.ts";
import { demand } from "../gap.ts";
import type { Form } from "../quiz.ts";
import type { Room } from "../room.ts";

export const four: Form = { kind: "number", decimals: 4 };
export const three: Form = { kind: "number", decimals: 3 };
export const count: Form = { kind: "count" };

export const VERDICT: Form = {
  kind: "word",
  what: "PROMOTE, REJECT or INCONCLUSIVE",
  words: ["PROMOTE", "REJECT", "INCONCLUSIVE"],
};

export const REASON: Form = { kind: "word", what: "a reason code of the gate" };

type Metrics = Run["summary"]["metrics"];

/** A number of a run's summary; `again` finds it in another file of the run, which must agree. */
export async function metric(
  room: Room,
  run: string,
  read: (metrics: Metrics) => unknown,
  again?: () => Promise<unknown>,
): Promise<number> {
  const value = read((await room.run(run)).summary.metrics);
  const same = again === undefined || (await again()) === value;
  demand(typeof value === "number" && same, {
    expected: `runs/${run} as its own command wrote it`,
    found: same ? "no such number in its summary" : "a summary that its other files contradict",
    look: `runs/${run}/summary.json`,
    next: `Run the command of runs/${run} again, with --force.`,
  });
  return value;
}

/** A line of a run's log, counted from 1, or from the end as `at` counts. */
export async function logLine<T>(room: Room, run: string, line: number): Promise<T> {
  await room.run(run);
  const lines = (await room.read(`runs/${run}/log.jsonl`)).trimEnd().split("\n");
  const text = lines.at(line > 0 ? line - 1 : line);
  demand(text !== undefined && text !== "", {
    expected: `a step ${line} in the log of runs/${run}`,
    found: "an earlier end",
    look: `runs/${run}/log.jsonl`,
  });
  return JSON.parse(text) as T;
}

/** The gate's word, on runs that nobody has edited. */
export async function judged(
  room: Room,
  before: string,
  after: string,
  claim?: Knob,
): Promise<GateReport> {
  const [baseline, candidate] = [await room.run(before), await room.run(after)];
  return gate({ baseline: baseline.dir, candidate: candidate.dir, claim });
}

/** The code of the one reason that holds `what`. */
export function reasonCode(
  { reasons }: GateReport,
  what: string,
  holds: (reason: GateReport["reasons"][number]) => boolean,
): string {
  const found = reasons.find(holds);
  demand(found !== undefined, {
    expected: `the gate to name ${what}`,
    found: reasons.map(({ code }) => code).join(", "),
    look: "the two runs that the question names",
  });
  return found.code;
}

/** The letter of the one field in which two manifests differ. */
export async function differingField(
  room: Room,
  [before, after]: readonly [string, string],
  fields: Readonly<Record<string, (manifest: Manifest) => Json>>,
): Promise<string> {
  const [a, b] = [(await room.run(before)).manifest, (await room.run(after)).manifest];
  const differing = Object.entries(fields).flatMap(([letter, read]) =>
    canonicalJson(read(a)) === canonicalJson(read(b)) ? [] : [letter],
  );
  demand(differing.length === 1, {
    expected: `runs/${before} and runs/${after} to differ in one of these fields`,
    found: `a difference in ${differing.length}`,
    look: `runs/${after}/manifest.json`,
  });
  return differing[0] as string;
}

/** What the strict verifier says to a completion. */
export function verdictOn(completion: string, expected: number): ScoreResult {
  return score({ id: "quiz", prompt: "", expected_answer: expected }, completion);
}
