/** notes/mental_map.md: four lines for each drill of the manual, and how many drills have them. */

import { KNOBS, type Knob, type Loop } from "../core/index.ts";
import { FAILURE_TYPES } from "../runs/index.ts";
import { changesIn } from "./changes.ts";
import { BLANK, isSameText, sections, wordCount } from "./notes.ts";

export const MENTAL_MAP = "notes/mental_map.md";

/** A drill of the manual, by its chapter: the loops of its commands, and the knobs that they turn. */
interface Drill {
  readonly id: string;
  readonly title: string;
  readonly loops: readonly Loop[];
  readonly knobs: readonly Knob[];
}

/** A chapter that gets a drill gets a row here and a section in templates/workspace. */
export const DRILLS: readonly Drill[] = [
  { id: "1A", title: "An evaluation", loops: ["A"], knobs: ["measurement"] },
  { id: "1B", title: "A selection", loops: ["B"], knobs: ["selection"] },
  { id: "1C", title: "A learning run", loops: ["C"], knobs: ["policy"] },
  { id: "2", title: "Objects not to confuse", loops: ["A", "C"], knobs: ["policy", "measurement"] },
  { id: "3", title: "Bandit and sequence", loops: ["C"], knobs: ["policy"] },
  { id: "4", title: "Tokens and completions", loops: ["A"], knobs: ["measurement", "environment"] },
  { id: "5", title: "Log-probs and signs", loops: ["C"], knobs: ["policy"] },
  { id: "6", title: "Baseline and advantage", loops: ["C"], knobs: ["policy"] },
  { id: "7", title: "Selection, filtering, learning", loops: ["B"], knobs: ["selection"] },
  { id: "8", title: "Frozen rollouts", loops: ["B", "C"], knobs: ["selection", "policy"] },
  { id: "9", title: "KL", loops: ["A", "C"], knobs: ["policy"] },
  { id: "10", title: "Reward as specification", loops: ["A"], knobs: ["measurement"] },
  { id: "11", title: "Measurement hygiene", loops: ["A"], knobs: ["measurement", "environment"] },
  { id: "12", title: "Goodhart", loops: ["C"], knobs: ["policy", "measurement"] },
  { id: "13", title: "Debugging by class", loops: ["A"], knobs: ["environment", "measurement"] },
  { id: "14", title: "RLVR and RLHF", loops: ["A", "B"], knobs: ["selection", "measurement"] },
  { id: "15", title: "Scenarios", loops: ["A"], knobs: ["policy"] },
  { id: "20", title: "Train your own", loops: ["A", "C"], knobs: ["policy"] },
  { id: "21", title: "When to stop", loops: ["C"], knobs: ["policy"] },
  { id: "22", title: "Choosing a method", loops: ["A", "B", "C"], knobs: ["policy", "selection"] },
  { id: "23", title: "Debugging from curves", loops: ["C"], knobs: ["policy", "measurement"] },
  { id: "24", title: "Many axes", loops: ["A"], knobs: ["policy", "measurement"] },
  {
    id: "26",
    title: "Reading runs",
    loops: ["A", "B", "C"],
    knobs: ["measurement", "selection", "policy", "environment"],
  },
  {
    id: "27",
    title: "Environments and trajectories",
    loops: ["A", "C"],
    knobs: ["policy", "measurement", "environment"],
  },
  { id: "28", title: "Judges", loops: ["A", "C"], knobs: ["policy", "measurement"] },
  { id: "29", title: "Graders", loops: ["A", "B"], knobs: ["measurement", "selection"] },
];

export interface DrillNote {
  readonly id: string;
  readonly title: string;
  readonly written: boolean;
  /** What is missing or wrong in a note that was begun. */
  readonly problem: string | null;
}

export interface MentalMap {
  readonly file: typeof MENTAL_MAP;
  readonly written: number;
  readonly total: number;
  readonly drills: readonly DrillNote[];
}

/** Reads the note; undefined text is a workspace without one. */
export function readMentalMap(text: string | undefined): MentalMap {
  const entries = sections(text ?? "").map(({ heading, body }) => ({
    id: heading.split(/\s/)[0]?.replace(/\.$/, "").toUpperCase(),
    lines: linesOf(body),
  }));
  const seen: string[] = [];
  const drills = DRILLS.map((drill): DrillNote => {
    const lines = entries.find(({ id }) => id === drill.id)?.lines ?? new Map();
    const begun = LABELS.some((label) => lines.has(label));
    const problem = begun ? problemOf(drill, lines, seen) : undefined;
    const failure = lines.get("Failure and class");
    if (failure !== undefined) seen.push(failure);
    return {
      id: drill.id,
      title: drill.title,
      written: begun && problem === undefined,
      problem: problem ?? null,
    };
  });
  const written = drills.filter((drill) => drill.written).length;
  return { file: MENTAL_MAP, written, total: DRILLS.length, drills };
}

const LABELS = ["Loop", "Knob", "Failure and class", "Next change"] as const;
type Label = (typeof LABELS)[number];
type Lines = ReadonlyMap<Label, string>;

/** The lines that have something written behind their label. */
function linesOf(body: string): Lines {
  const found = new Map<Label, string>();
  for (const label of LABELS) {
    const line = body.split("\n").find((one) => one.includes(`**${label}:**`));
    const written = line?.split(`**${label}:**`)[1]?.trim() ?? "";
    if (written !== "" && !BLANK.test(written)) found.set(label, written);
  }
  return found;
}

const MIN_FAILURE_WORDS = 6;
const MIN_CHANGE_WORDS = 3;

function problemOf(drill: Drill, lines: Lines, seen: readonly string[]): string | undefined {
  const missing = LABELS.find((label) => !lines.has(label));
  if (missing) return `${missing}: nothing written`;
  const of = (label: Label) => lines.get(label) as string;
  return (
    loopProblem(drill, of("Loop")) ??
    knobProblem(drill, of("Knob")) ??
    failureProblem(of("Failure and class"), seen) ??
    changeProblem(of("Next change"))
  );
}

function loopProblem({ loops }: Drill, written: string): string | undefined {
  const loop = /^(?:loop\s+)?([A-Z])\b/i.exec(written)?.[1]?.toUpperCase();
  if (loops.some((one) => one === loop)) return undefined;
  return `Loop: the commands of this drill belong to Loop ${loops.join(" or ")}`;
}

function knobProblem({ knobs }: Drill, written: string): string | undefined {
  const names = Object.keys(KNOBS) as Knob[];
  const [named, ...more] = namedIn(written, names);
  if (named === undefined || more.length > 0) return `Knob: name one of ${names.join(", ")}`;
  return knobs.includes(named)
    ? undefined
    : `Knob: the commands of this drill do not turn the ${KNOBS[named]}`;
}

function failureProblem(written: string, seen: readonly string[]): string | undefined {
  const named = namedIn(written, FAILURE_TYPES);
  if (named.length !== 1) {
    const found = named.length > 1 ? `, not ${named.join(" and ")}` : "";
    return `Failure and class: name exactly one of ${FAILURE_TYPES.join(", ")}${found}`;
  }
  if (wordCount(written) < MIN_FAILURE_WORDS)
    return `Failure and class: say what failed, in at least ${MIN_FAILURE_WORDS} words`;
  return seen.some((other) => isSameText(written, other))
    ? "Failure and class: the text of another drill"
    : undefined;
}

function changeProblem(written: string): string | undefined {
  const changes = changesIn(written);
  if (changes.length > 1) return `Next change: exactly one, not ${changes.length}`;
  if (changes.length === 1 && wordCount(written) >= MIN_CHANGE_WORDS) return undefined;
  return `Next change: say which, in at least ${MIN_CHANGE_WORDS} words`;
}

const namedIn = <T extends string>(text: string, names: readonly T[]): T[] =>
  names.filter((name) => new RegExp(`\\b${name}\\b`, "i").test(text));
