/** Very long completions: time that grows with the square of the length, and limits that cut. */

import { type AttackClass, inPlace, whole } from "../attack.ts";

const LONG = 20_000;

export const long: AttackClass = {
  name: "long_inputs",
  why: "A pattern that backtracks takes seconds for a long text, and a text that is cut loses its end.",
  make: (m) => {
    const wrong = m.wrong[0] as string;
    return [
      ...whole("wrong", [
        ["many letters", `${"a".repeat(LONG)}!`],
        ["many spaces behind a wrong answer", `${m.write(wrong)}${" ".repeat(LONG)}x`],
        ["many line breaks", "\n".repeat(LONG)],
        ["many brackets", "[".repeat(LONG / 2) + "]".repeat(LONG / 2)],
        ["the marker many times", m.form.before.repeat(LONG / 10)],
      ]),
      ...inPlace("wrong", m, [
        ["many digits", `9${"1".repeat(LONG)}`],
        ["many zeros behind a point", `0.${"0".repeat(LONG)}7`],
        ["many minus signs", `${"-".repeat(LONG)}x`],
      ]),
    ];
  },
};
