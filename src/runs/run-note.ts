/**
 * The run note, README.md of every kind of run: what the run itself knows is filled in, the
 * conclusion is left to a person. A note that a person edited is never overwritten.
 */

import { readdir, rename } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "../core/fingerprint.ts";
import { KNOBS } from "../core/knobs.ts";
import { visibleShort } from "../core/visible.ts";
import { NOTE } from "./artifacts.ts";
import { readIfThere, writeWhole } from "./whole-file.ts";

/** What a run knows about itself; each line is Markdown. */
export interface NoteFacts {
  readonly loop: string;
  /** What was held fixed, from manifest.json. */
  readonly evidence: readonly string[];
  readonly happened: string;
  readonly warnings?: readonly string[];
  readonly examples: readonly string[];
}

/** The kinds of failure that a note may name. */
export const FAILURE_TYPES = ["model", "verifier", "spec", "data"] as const;

/** What a person writes, by the label of its line. */
export const NOTE_FIELDS = {
  knob: "Knob turned (pick one)",
  change: "Single change since the last run",
  expected: "What I expected",
  failure: "Failure type(s)",
  repair: "Repair plan",
  next: "Next change (exactly one)",
} as const;

/** What stands in a line until a person has written there. */
export const blank = (hint = ""): string => `_yours to write${hint === "" ? "" : `: ${hint}`}_`;

const NONE = "or none for a first run";

export function runNote({ loop, evidence, happened, warnings, examples }: NoteFacts): string {
  const line = (label: string, text: string) => `- **${label}:** ${text}`;
  const below = (lines: readonly string[]) => lines.map((text) => `  - ${text}`);
  return [
    "# Run note",
    "",
    line("Loop", loop),
    line(NOTE_FIELDS.knob, blank(`${Object.values(KNOBS).join(" / ")}, ${NONE}`)),
    line(NOTE_FIELDS.change, blank(NONE)),
    "- **Locked Room evidence** (from `manifest.json`):",
    ...below(evidence),
    line(NOTE_FIELDS.expected, blank()),
    line("What happened (numbers)", happened),
    ...below(warnings ?? []),
    "- **Two concrete examples:**",
    ...below(examples.length > 0 ? examples : ["none in this run"]),
    line(NOTE_FIELDS.failure, blank(`${FAILURE_TYPES.join(" / ")}, or none`)),
    line(NOTE_FIELDS.repair, blank("one sentence")),
    line(NOTE_FIELDS.next, blank('one change in one sentence, without "and"')),
    "",
  ].join("\n");
}

/** Data as Markdown code on one line: nothing in it can end the code or start anything else. */
export function code(text: string): string {
  return `\`${visibleShort(text, 60).replaceAll("`", "'")}\``;
}

const STAMP = /\n<!-- untouched ([0-9a-f]{64}) -->\n$/;

/** Marks a note so that an edit can be detected later. */
export function stamped(note: string): string {
  return `${note}\n<!-- untouched ${sha256(note)} -->\n`;
}

/** A note that was edited is renamed, never overwritten. */
export async function keepEditedNote(dir: string): Promise<void> {
  const note = await readIfThere(path.join(dir, NOTE)).catch(() => undefined);
  if (note === undefined || STAMP.exec(note)?.[1] === sha256(note.replace(STAMP, ""))) return;
  const taken = new Set(await readdir(dir));
  for (let n = 1; ; n++) {
    const name = `README.kept-${n}.md`;
    if (!taken.has(name)) return rename(path.join(dir, NOTE), path.join(dir, name));
  }
}

/** Writes the note of a folder that is not itself a run, such as that of a sweep. */
export async function writeNote(dir: string, facts: NoteFacts): Promise<void> {
  await keepEditedNote(dir);
  await writeWhole(path.join(dir, NOTE), stamped(runNote(facts)));
}
