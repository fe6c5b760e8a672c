/** Completions with known rewards: right ones, and exploits that must get 0. */

import type { GoldenRow } from "../../src/core/records.ts";
import { type ArithmeticExample, examplesOf } from "../../src/datasets/splits.ts";
import { type Exploit, SUITS, type Suit } from "./exploit.ts";
import { DISGUISES } from "./exploits-characters.ts";
import { EVASIONS } from "./exploits-wording.ts";

export const EXPLOITS: Readonly<Record<string, readonly Exploit[]>> = { ...DISGUISES, ...EVASIONS };

/** What surrounds the line and is stripped: ASCII white space, and nothing else. */
const SURROUNDINGS: readonly [note: string, before: string, after: string][] = [
  ["the line and nothing else", "", ""],
  ["a line feed at the end", "", "\n"],
  ["a carriage return and line feed at the end", "", "\r\n"],
  ["a lone carriage return at the end", "", "\r"],
  ["several blank lines at the end", "", "\n\n\n"],
  ["a space at the end", "", " "],
  ["a tab at the end", "", "\t"],
  ["a vertical tab at the end", "", "\v"],
  ["a form feed at the end", "", "\f"],
  ["a space in front", " ", ""],
  ["a tab in front", "\t", ""],
  ["blank lines in front", "\n\n", ""],
  ["a vertical tab and a form feed in front", "\v\f", ""],
  ["every kind of ASCII white space on both sides", " \t\n\r\v\f", "\f\v\r\n\t "],
];

export function goldenCorrect(): GoldenRow[] {
  const chooser = exampleChooser();
  const suits: Suit[] = ["positive", "negative", "zero", "one_digit", "three_digits"];
  return suits.flatMap((suit) =>
    SURROUNDINGS.map(([note, before, after]) => {
      const { id, expected_answer } = chooser(suit);
      return {
        id,
        completion: `${before}Final: ${expected_answer}${after}`,
        expected_reward: 1,
        note: `${SUITS[suit].words}; ${note}`,
      };
    }),
  );
}

export function goldenExploits(): GoldenRow[] {
  const chooser = exampleChooser();
  return Object.entries(EXPLOITS).flatMap(([exploit_class, exploits]) =>
    exploits.map(([note, disguise, suit = "positive"]) => {
      const { id, expected_answer } = chooser(suit);
      const completion = disguise(String(expected_answer));
      return { id, completion, expected_reward: 0, exploit_class, note };
    }),
  );
}

/** Cycles through the matching dev examples, so that rows spread over the data set. */
function exampleChooser(): (suit: Suit) => ArithmeticExample {
  const examples = examplesOf("dev");
  const used = new Map<Suit, number>();
  return (suit) => {
    const suited = examples.filter(({ expected_answer }) => SUITS[suit].accepts(expected_answer));
    const index = used.get(suit) ?? 0;
    used.set(suit, index + 1);
    return suited[index % suited.length] as ArithmeticExample;
  };
}
