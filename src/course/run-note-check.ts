/**
 * A run note that a person filled in: the knob is compared with what the gate finds between the run
 * and the one before it, and each change is exactly one.
 */

import { type Change, KNOBS, type Knob } from "../core/index.ts";
import { compareManifests } from "../gate/index.ts";
import { FAILURE_TYPES, NOTE_FIELDS, type Run } from "../runs/index.ts";
import { changesIn, isNone } from "./changes.ts";
import { type CheckContext, ensure } from "./check-context.ts";
import type { Check } from "./level.ts";
import { BLANK, wordCount } from "./notes.ts";
import { alteredLine, recordedFacts } from "./recorded-note.ts";

type Field = keyof typeof NOTE_FIELDS;

const MIN_WORDS = { expected: 4, repair: 4, change: 3, next: 3 } as const;

/** The note of a run is filled in. `last` is the run before it, if it has one. */
export function runNoteCheck(run: string, last?: string): Check {
  const since = last === undefined ? "It is the first of its kind" : `The last run is runs/${last}`;
  return {
    id: "run-note",
    title: `the run note of runs/${run} is filled in, with the knob that was turned`,
    next: `Fill in runs/${run}/README.md, every line that says "yours to write". ${since}.`,
    run: (context) => checkRunNote(context, run, last),
  };
}

/** The task of a level that has such a check. */
export function runNoteTask(run: string, last?: string): string {
  const since =
    last === undefined
      ? "this is the first run of its kind, so no knob was turned"
      : `the last run is runs/${last}`;
  return `runs/${run}/README.md, the run note: the knob (${since}), the single change, what you expected, the failure types, the repair plan and exactly one next change.`;
}

async function checkRunNote(context: CheckContext, run: string, last?: string): Promise<string> {
  const file = `runs/${run}/README.md`;
  const note = await context.read(file);
  const found = await knobsSince(context, run, last);
  const altered = alteredLine(note, await recordedFacts(await context.run(run)));
  ensure(altered === undefined, () => ({
    expected: `"${altered?.label}" as the run wrote it`,
    found: `another text; the run says ${altered?.recorded}`,
    where: file,
    next: `Put this back under "${altered?.label}" in ${file}: ${altered?.recorded}`,
  }));
  for (const field of Object.keys(NOTE_FIELDS) as Field[]) {
    const { text, line } = readField(note, field);
    const problem = problemOf(field, text, found);
    ensure(problem === undefined, () => ({
      expected: `"${NOTE_FIELDS[field]}": ${problem?.expected}`,
      found: problem?.found ?? "",
      where: `${file}:${line}`,
      next: problem?.next?.replace("FILE", file),
    }));
  }
  const given = readKnob(readField(note, "knob").text ?? "");
  const name = given === undefined || given === "none" ? "no knob" : KNOBS[given];
  const since = last === undefined ? "a first run" : `since runs/${last}, as the gate finds`;
  return knobHint(given, found.knobs) || `${name}, ${since}`;
}

/** What the gate finds between two runs, and how many rows failed. */
interface Found {
  readonly failed: number;
  readonly knobs: readonly Change[];
  /** The command that shows it. */
  readonly command?: string;
}

async function knobsSince(context: CheckContext, run: string, last?: string): Promise<Found> {
  const after = await context.run(run);
  const failed = failedRows(after);
  if (last === undefined) return { failed, knobs: [] };
  const before = await context.run(last);
  const { knobs } = compareManifests(before.manifest, after.manifest);
  const command = `./lockedroom gate --baseline runs/${last} \\\n  --candidate runs/${run}`;
  ensure(knobs.length <= 1, {
    expected: `at most one knob turned between runs/${last} and runs/${run}`,
    found: knobs.join(" and "),
    where: `the manifests of runs/${last} and runs/${run}`,
    next: `Make runs/${run} again, with --force, so that it differs from runs/${last} in one thing.`,
  });
  return { failed, knobs, command };
}

/** Rows that a scorer failed; an episode of an experiment without its reward is no failure. */
const failedRows = ({ manifest, summary }: Run) =>
  manifest.loop === "C" ? 0 : summary.metrics.n_fail;

// --- reading -----------------------------------------------------------------------------------------

/** The text of a field, which may go on in further lines, and the number of its first. */
export function readField(note: string, field: Field): { text: string | undefined; line: number } {
  const stem = NOTE_FIELDS[field].replace(/ \(.*$/, "");
  const lines = note.split("\n");
  const start = lines.findIndex((line) => line.includes(`**${stem}`));
  if (start < 0) return { text: undefined, line: 1 };
  const end = lines.findIndex((line, i) => i > start && /^(?:- \*\*|<!--|#)/.test(line));
  const first = (lines[start] ?? "").replace(/^.*?:\*\*/, "");
  const text = [first, ...lines.slice(start + 1, end < 0 ? undefined : end)].join("\n").trim();
  return { text, line: start + 1 };
}

interface Problem {
  readonly expected: string;
  readonly found: string;
  /** What to do, where it is not to fill in the whole note. */
  readonly next?: string | undefined;
}

const correct = (field: Field) => `Correct "${NOTE_FIELDS[field]}" in FILE.`;

function problemOf(field: Field, text: string | undefined, found: Found): Problem | undefined {
  if (text === undefined) {
    const next = `Add the line "- **${NOTE_FIELDS[field]}:** …" to FILE.`;
    return { expected: "this line in the note", found: "no such line", next };
  }
  if (BLANK.test(text)) return { expected: "your own words", found: "the placeholder" };
  if (field === "knob") return knobProblem(text, found);
  if (field === "failure") return failureProblem(text, found.failed);
  const first = field === "change" && found.knobs.length === 0 && isNone(text);
  if (first) return undefined;
  const changes = field === "change" || field === "next" ? changesIn(text) : [text];
  if (changes.length !== 1) {
    const shown = changes.map((one) => `"${one}"`).join(" and ");
    return {
      expected: `exactly one change${changes.length > 1 ? "; a second one belongs to the run after" : ""}`,
      found: changes.length === 0 ? text || "nothing" : `${changes.length}: ${shown}`,
      next: correct(field),
    };
  }
  return wordCount(text) >= MIN_WORDS[field]
    ? undefined
    : {
        expected: `at least ${MIN_WORDS[field]} words`,
        found: text || "nothing",
        next: correct(field),
      };
}

/** Whoever names more than two has not decided. */
const MOST_TYPES = 2;

export function failureProblem(text: string, failed: number): Problem | undefined {
  const named = withoutRemarks(text)
    .split(/[,/;+\n]|\band\b/i)
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== "");
  const next = correct("failure");
  const known = (part: string) => FAILURE_TYPES.some((type) => part.split(/\s/)[0] === type);
  const types = FAILURE_TYPES.join(", ");
  if (isNone(text)) {
    return failed === 0
      ? undefined
      : { expected: `one or two of ${types}: ${failed} rows failed`, found: "none", next };
  }
  if (named.length > MOST_TYPES && named.every(known)) {
    const expected = `one or two of ${types}: those that the failing rows show`;
    return { expected, found: `${named.length}: ${named.join(", ")}`, next };
  }
  return named.length > 0 && named.every(known)
    ? undefined
    : { expected: `one or two of ${types}, or none`, found: text || "nothing", next };
}

/** Without emphasis, backticks and what is in parentheses. */
const withoutRemarks = (text: string) => text.replace(/\([^)]*\)/g, "").replace(/[*_`]/g, "");

// --- the knob ----------------------------------------------------------------------------------------

export type Pick = Knob | "none";

/** The knob that a text picks; undefined where it picks none of them, or several. */
export function readKnob(text: string): Pick | undefined {
  const plain = withoutRemarks(text).trim().toLowerCase();
  const named = (Object.keys(KNOBS) as Knob[]).filter((knob) =>
    new RegExp(`\\b${knob}\\b`).test(plain),
  );
  if (named.length > 1) return undefined;
  return named[0] ?? (isNone(plain) ? "none" : undefined);
}

/** Whether the pick is what the gate finds; an edited data set may be called a changed instrument. */
export function isRightKnob(pick: Pick | undefined, knobs: readonly Change[]): boolean {
  const [found = "none"] = knobs;
  return pick === found || (pick === "measurement" && found === "environment");
}

/** What to add where a pick is accepted under another name. */
export function knobHint(pick: Pick | undefined, [found]: readonly Change[]): string {
  return pick === "measurement" && found === "environment"
    ? "measurement instrument is accepted: changed data are often called a changed instrument, and either way the comparison is invalid. The gate says environment: the instrument is the scorer; data, prompts and sampling settings are what it is applied to"
    : "";
}

function knobProblem(text: string, { knobs, command }: Found): Problem | undefined {
  const pick = readKnob(text);
  if (pick === undefined) {
    return {
      expected: `one of ${Object.values(KNOBS).join(", ")}, or none`,
      found: text,
      next: correct("knob"),
    };
  }
  if (isRightKnob(pick, knobs)) return undefined;
  if (command === undefined) {
    return { expected: "none, since this is a first run", found: text, next: correct("knob") };
  }
  return {
    expected: "the knob that differs between the two manifests",
    found: text,
    next: `${correct("knob")} Compare the two manifests, or ask the gate:\n${command}`,
  };
}
