/** A person at work: one key after the other, each label stored before the next pair is shown. */

import type { ReviewLabel } from "../../runs/review-schemas.ts";
import { type ShownPair, sideAt } from "./pair.ts";

export const KEYS = {
  "1": "answer 1 is better",
  "2": "answer 2 is better",
  "=": "a tie: neither is better",
  s: "skip this pair",
  u: "undo the last label",
  q: "quit; the same command continues",
  "?": "this help",
} as const;

/** Ctrl-C and Ctrl-D, as a terminal sends them key by key. */
export const INTERRUPT = "\u0003";
const END = "\u0004";

export interface Store {
  readonly labels: readonly ReviewLabel[];
  add(label: ReviewLabel): Promise<void>;
  undo(): Promise<void>;
}

export interface Screen {
  pair(pair: ShownPair, place: { readonly number: number; readonly of: number }): void;
  /** Every pair has a label. */
  all(of: number): void;
  help(): void;
  unknown(key: string): void;
}

/** "done": every pair has a label, and the person is content; "left": some have none, or may change. */
export type Ending = "done" | "left" | "interrupted";

export async function labelPairs(
  pairs: readonly ShownPair[],
  store: Store,
  keys: AsyncIterable<string>,
  screen: Screen,
): Promise<Ending> {
  const show = () => {
    const at = store.labels.length;
    const pair = pairs[at];
    if (pair) screen.pair(pair, { number: at + 1, of: pairs.length });
    else screen.all(pairs.length);
  };
  show();
  for await (const key of keys) {
    const pair = pairs[store.labels.length];
    if (key === INTERRUPT) return "interrupted";
    if (key === "q" || key === END) return pair ? "left" : "done";
    if (key === "?") screen.help();
    else if (key === "u" && store.labels.length > 0) {
      await store.undo();
      show();
    } else if (pair && isLabel(key)) {
      await store.add(labelOf(pair, key));
      show();
    } else screen.unknown(key);
  }
  return store.labels.length === pairs.length ? "done" : "left";
}

type LabelKey = "1" | "2" | "=" | "s";

function isLabel(key: string): key is LabelKey {
  return ["1", "2", "=", "s"].includes(key);
}

function labelOf({ id, prompt, a, b, shownFirst }: ShownPair, key: LabelKey): ReviewLabel {
  const row = { id, prompt, a, b, shown_first: shownFirst };
  if (key === "s") return row;
  if (key === "=") return { ...row, better: "tie" };
  return { ...row, better: sideAt(key === "1" ? 1 : 2, shownFirst) };
}
