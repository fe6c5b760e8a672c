/**
 * Whether a completion could be read as stating an answer, by a very generous reader: foreign
 * digits, hidden characters, separators and signs in any convention all count. What even this
 * reader cannot find in a completion is not stated there.
 */

import type { Target } from "./attack.ts";

export function couldState(completion: string, { answer, value }: Target): boolean {
  if (completion.includes(answer) && value === null) return true;
  const text = plainText(completion);
  if (value === null) return lettersOf(text).includes(lettersOf(plainText(answer)));
  return (
    numbersIn(text).some((number) => number === value) || numberIn(lettersToDigits(text), value)
  );
}

/** Compatibility forms and foreign digits as ASCII, without characters that are not seen. */
export function plainText(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\p{Nd}/gu, asciiDigit)
    .replace(/[\p{Cf}\p{M}]/gu, "")
    .replace(/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d\u207b\u208b]/g, "-");
}

/** Letters and digits only, in lower case. */
export function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** The decimal digits of a script are ten in a row. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) as number;
  if (code < 128) return digit;
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % 10);
}

const lettersToDigits = (text: string) =>
  text.replace(/[oO]/g, "0").replace(/[lI|]/g, "1").replace(/\s+/g, "");

function numberIn(text: string, value: number): boolean {
  return numbersIn(text).some((number) => number === value);
}

const TOKEN = /[-+]?(?:0[xXbBoO][0-9a-fA-F]+|[0-9]+(?:[.,'_\s][0-9]+)*\.?(?:[eE][-+]?[0-9]+)?)/g;

function numbersIn(text: string): number[] {
  const found = (text.match(TOKEN) ?? []).flatMap(valuesOf);
  for (const [, top, bottom] of text.matchAll(/(-?[0-9.]+)\s*\/\s*(-?[0-9.]+)/g))
    found.push(Number(top) / Number(bottom));
  for (const [, rate] of text.matchAll(/(-?[0-9.]+)\s*%/g)) found.push(Number(rate) / 100);
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return [...found, ...spelled(words)];
}

/** One token in every convention: each run of digits alone, separators dropped, comma as point. */
function valuesOf(token: string): number[] {
  const bare = token.replace(/^[-+]/, "");
  const positive = [
    Number(bare),
    Number(bare.replace(/[,'_\s]/g, "")),
    Number(bare.replace(/[.'_\s]/g, "").replace(",", ".")),
    Number(bare.replace(/[^0-9]/g, "")),
    ...(bare.match(/[0-9]+(?:\.[0-9]+)?/g) ?? []).map(Number),
    ...(bare.match(/[0-9]+/g) ?? []).map(Number),
  ];
  return positive.flatMap((value) => [value, -value]);
}

const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

function spelled(words: readonly string[]): number[] {
  return words.flatMap((word, i) => {
    const [one, ten] = [ONES.indexOf(word), TENS.indexOf(word)];
    if (one >= 0) return [one, -one];
    if (ten < 0) return [];
    const tens = 20 + 10 * ten;
    const next = ONES.indexOf(words[i + 1] ?? "");
    return [tens, -tens, ...(next > 0 && next < 10 ? [tens + next, -tens - next] : [])];
  });
}
