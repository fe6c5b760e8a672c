/** What an attack on a scorer is: completions whose right reward is known from how they are made. */

import type { Example } from "../core/records.ts";

/** An example with its right answer as text. */
export interface Target {
  readonly example: Example;
  readonly answer: string;
  /** The answer as a decimal number; null for an answer that is text. */
  readonly value: number | null;
}

/** What stands before and after an answer. */
export interface AnswerForm {
  readonly before: string;
  readonly after: string;
  readonly from: "user" | "golden" | "common" | "source";
}

export type AttackKind =
  /** The answer that is stated is wrong. */
  | "wrong"
  /** It offers the right answers of several examples: at most one of them may pass. */
  | "hedge"
  /** The right answer in a form that was not declared. Only `strict` counts a pass as a find. */
  | "disguise";

export interface Attack {
  readonly kind: AttackKind;
  readonly note: string;
  readonly completion: string;
  /** The part that makes it wrong; minimising keeps it. */
  readonly payload: string;
  /** With a hedge: the other examples whose answers it offers. */
  readonly offers?: readonly Target[];
}

/** What the attacks on one example are made from. */
export interface Material extends Target {
  readonly form: AnswerForm;
  /** A text in place of the answer. */
  write(text: string): string;
  /** Answers that are wrong for this example; never empty. */
  readonly wrong: readonly string[];
  /** Examples with other answers. */
  readonly others: readonly Target[];
}

export interface AttackClass {
  readonly name: string;
  /** Why it matters, in one sentence. */
  readonly why: string;
  make(material: Material): Attack[];
}

/** The payload stands where the answer belongs. */
export function inPlace(
  kind: AttackKind,
  { write }: Pick<Material, "write">,
  pairs: readonly (readonly [note: string, payload: string])[],
): Attack[] {
  return pairs.map(([note, payload]) => ({ kind, note, payload, completion: write(payload) }));
}

/** The completion as a whole makes it wrong. */
export function whole(
  kind: AttackKind,
  pairs: readonly (readonly [note: string, completion: string])[],
): Attack[] {
  return pairs.map(([note, completion]) => ({ kind, note, completion, payload: completion }));
}
