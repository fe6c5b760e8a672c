/** How each metric divides text into units, exactly as the Python library that it follows does. */

/** What Python's `str.split()` takes for white space; JavaScript's `\s` is another set. */
const PYTHON_SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** Words between white space: for BLEU, GLEU and METEOR of NLTK, which take lists of words. */
export function words(text: string): string[] {
  return text.split(PYTHON_SPACE).filter((word) => word !== "");
}

const ASCII_SPACE = /[\t-\r\x1c-\x20]+/;
const LATIN_1 = /^[\0-\xff]*$/;

/** As `words`, but in text of Latin-1 alone rapidfuzz does not divide at U+0085 and U+00A0. */
export function rapidfuzzWords(text: string): string[] {
  if (!LATIN_1.test(text)) return words(text);
  return text.split(ASCII_SPACE).filter((word) => word !== "");
}

/** Lower case, then runs of a-z and 0-9: the default of rouge-score, without its stemmer. */
export function rougeWords(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

/** Unicode code points, which are the characters of a Python string. */
export function codePoints(text: string): Int32Array {
  const points = new Int32Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) as number;
    if (point > 0xffff) i++;
    points[length++] = point;
  }
  return points.subarray(0, length);
}

/** A number for each word, the same for the same word in both lists. */
export function numbered(...lists: readonly (readonly string[])[]): Int32Array[] {
  const known = new Map<string, number>();
  return lists.map((list) =>
    Int32Array.from(list, (word) => {
      const number = known.get(word) ?? known.size;
      known.set(word, number);
      return number;
    }),
  );
}

const ENTITIES: readonly [string, string][] = [
  ["&quot;", '"'],
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
];

/** The tokenisation 13a of WMT's mteval, which is sacreBLEU's default. */
export function mtevalWords(text: string): string[] {
  let line = trimEnd(text).replaceAll("<skipped>", "").replaceAll("-\n", "").replaceAll("\n", " ");
  for (const [entity, character] of ENTITIES) line = line.replaceAll(entity, character);
  return words(
    ` ${line} `
      .replace(/([{-~[-` -&(-+:-@/])/gu, " $1 ")
      .replace(/([^0-9])([.,])/gu, "$1 $2 ")
      .replace(/([.,])([^0-9])/gu, " $1 $2")
      .replace(/([0-9])(-)/gu, "$1 $2 "),
  );
}

function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && PYTHON_SPACE.test(text[end - 1] as string)) end--;
  return text.slice(0, end);
}
