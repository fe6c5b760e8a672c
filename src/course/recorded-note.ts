/** The part of a run note that the run wrote: it must say what the run's own files say. */

import { banditSentence, klSentence, twoStepSentence } from "../learn/index.ts";
import { selectionSentence, Tally } from "../loops/index.ts";
import { type NoteFacts, type Run, scoredFacts } from "../runs/index.ts";

type Metrics = Run["summary"]["metrics"];

/** The sentence of numbers, by the command that made the run. */
const SENTENCES: Readonly<Record<string, (metrics: Metrics, tally: Tally) => string>> = {
  eval: (_, tally) => tally.sentence,
  "selection-demo": (metrics) => selectionSentence(metrics),
  "bandit-train": (metrics) => banditSentence(metrics),
  "two-step-mdp": (metrics) => twoStepSentence(metrics),
  "kl-tradeoff-demo": (metrics) => klSentence(metrics),
};

/** What the run wrote into its note, made again from its manifest, summary and rows. */
export async function recordedFacts({ manifest, summary, ...run }: Run): Promise<NoteFacts> {
  const tally = new Tally();
  for await (const rows of run.results().batches()) for (const row of rows) tally.add(row);
  const happened = SENTENCES[manifest.command]?.(summary.metrics, tally) ?? "";
  return scoredFacts(manifest, summary, tally.twoExamples, happened);
}

export interface AlteredLine {
  readonly label: string;
  /** What the line says when the run writes it. */
  readonly recorded: string;
}

/** The first recorded line that a note no longer has; however its lines are wrapped. */
export function alteredLine(note: string, facts: NoteFacts): AlteredLine | undefined {
  const { loop, evidence, happened, warnings = [], examples } = facts;
  const recorded: Readonly<Record<string, readonly string[]>> = {
    Loop: [loop],
    "Locked Room evidence": evidence,
    "What happened (numbers)": [happened, ...warnings],
    "Two concrete examples": examples,
  };
  for (const [label, lines] of Object.entries(recorded)) {
    const parts = note.split(/^(?=- \*\*|<!--|#)/m);
    const found = parts.filter((part) => part.startsWith(`- **${label}`));
    const [text = ""] = found.length === 1 ? found.map(plain) : [];
    const lost = lines.find((line) => !text.includes(plain(line)));
    if (lost !== undefined) return { label, recorded: lost.replace(/\s+/g, " ") };
  }
  return undefined;
}

const plain = (text: string) => text.replace(/\s+/g, " ").trim();
