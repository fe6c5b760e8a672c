/** notes/mental_map.md: four lines for each drill of the manual, and how many drills have them. */

import { KNOBS, type Knob, type Loop } from "../core/index.ts";
import { FAILURE_TYPES } from "../runs/index.ts";
import { BLANK, sections, wordCount } from "./notes.ts";

export const MENTAL_MAP = "notes/mental_map.md";

/** A drill of the manual, by its chapter; `loops` are those that its commands belong to. */
interface Drill {
  readonly id: string;
  readonly title: string;
  readonly loops: readonly Loop[];
}

/** A chapter that gets a drill gets a row here and a section in templates/workspace. */
export const DRILLS: readonly Drill[] = [
  { id: "1A", title: "An evaluation", loops: ["A"] },
  { id: "1B", title: "A selection", loops: ["B"] },
  { id: "1C", title: "A learning run", loops: ["C"] },
  { id: "2", title: "Objects not to confuse", loops: ["A", "C"] },
  { id: "3", title: "Bandit and sequence", loops: ["C"] },
  { id: "4", title: "Tokens and completions", loops: ["A"] },
  { id: "5", title: "Log-probs and signs", loops: ["C"] },
  { id: "6", title: "Baseline and advantage", loops: ["C"] },
  { id: "7", title: "Selection, filtering, learning", loops: ["B"] },
  { id: "8", title: "Frozen rollouts", loops: ["B", "C"] },
  { id: "9", title: "KL", loops: ["A", "C"] },
  { id: "10", title: "Reward as specification", loops: ["A"] },
  { id: "11", title: "Measurement hygiene", loops: ["A"] },
  { id: "12", title: "Goodhart", loops: ["C"] },
  { id: "13", title: "Debugging by class", loops: ["A"] },
  { id: "14", title: "RLVR and RLHF", loops: ["A", "B"] },
  { id: "15", title: "Scenarios", loops: ["A"] },
  { id: "20", title: "Train your own", loops: ["A", "C"] },
  { id: "21", title: "When to stop", loops: ["C"] },
  { id: "22", title: "Choosing a method", loops: ["A", "B", "C"] },
  { id: "23", title: "Debugging from curves", loops: ["C"] },
  { id: "24", title: "Many axes", loops: ["A"] },
  { id: "26", title: "Reading runs", loops: ["A", "B", "C"] },
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
  const seen = new Set<string>();
  const drills = DRILLS.map((drill): DrillNote => {
    const lines = entries.find(({ id }) => id === drill.id)?.lines ?? new Map();
    const begun = LABELS.some((label) => lines.has(label));
    const problem = begun ? problemOf(drill, lines, seen) : undefined;
    seen.add(lines.get("Failure and class") ?? "");
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

function problemOf(drill: Drill, lines: Lines, seen: ReadonlySet<string>): string | undefined {
  const missing = LABELS.find((label) => !lines.has(label));
  if (missing) return `${missing}: nothing written`;
  const of = (label: Label) => lines.get(label) as string;
  return (
    loopProblem(drill, of("Loop")) ??
    knobProblem(of("Knob")) ??
    failureProblem(of("Failure and class"), seen) ??
    changeProblem(of("Next change"))
  );
}

function loopProblem({ loops }: Drill, written: string): string | undefined {
  const loop = /^(?:loop\s+)?([A-Z])\b/i.exec(written)?.[1]?.toUpperCase();
  if (loops.some((one) => one === loop)) return undefined;
  return `Loop: the commands of this drill belong to Loop ${loops.join(" or ")}`;
}

function knobProblem(written: string): string | undefined {
  const names = Object.keys(KNOBS) as Knob[];
  const named = names.filter((name) => new RegExp(`\\b${name}\\b`, "i").test(written));
  return named.length === 1 ? undefined : `Knob: name one of ${names.join(", ")}`;
}

function failureProblem(written: string, seen: ReadonlySet<string>): string | undefined {
  const named = FAILURE_TYPES.filter((name) => new RegExp(`\\b${name}\\b`, "i").test(written));
  if (named.length === 0) return `Failure and class: name one of ${FAILURE_TYPES.join(", ")}`;
  if (wordCount(written) < MIN_FAILURE_WORDS)
    return `Failure and class: say what failed, in at least ${MIN_FAILURE_WORDS} words`;
  return seen.has(written) ? "Failure and class: the text of another drill" : undefined;
}

function changeProblem(written: string): string | undefined {
  if (wordCount(written) >= MIN_CHANGE_WORDS) return undefined;
  return `Next change: say which, in at least ${MIN_CHANGE_WORDS} words`;
}
