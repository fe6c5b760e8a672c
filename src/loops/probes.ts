/**
 * What a scorer is called with before it counts as valid: every kind of JSON value as completion and
 * as each field of an example. A file can hold any of them, so a scorer must answer all.
 */

import type { Json } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { ScoreRequest } from "../core/score.ts";

/** A call with an odd value in one place; `field` names the place in the example. */
export interface Probe {
  readonly probe: "completion" | "example_field";
  readonly field?: string;
  /** The odd value in a few words. */
  readonly value: string;
  readonly input: ScoreRequest;
}

/** Every kind of JSON value, named by what is printed of it. */
const VALUES: readonly (readonly [shown: string, value: Json])[] = [
  ...[null, true, false, 0, 1, -1.5, 1e308, 2 ** 53, "", "x", "1", "-0"].map(shownInFull),
  ...[[], {}, [null], [[1]], [1, "x", { a: [] }], { a: { b: null } }].map(shownInFull),
  ["a list nested 500 deep", nested(500)],
  ["a list of 100,000 numbers", Array.from({ length: 100_000 }, (_, i) => i)],
  ["an object of 10,000 keys", manyKeys(10_000)],
  ["a text of 1,000,000 characters", "x".repeat(1_000_000)],
];

/** Text that people forget: empty, invisible, lookalike, long. */
const TEXTS: readonly (readonly [shown: string, value: Json])[] = [
  ...[" \t\r\n", "\0", "\ud800 lone surrogate \udfff", "\ufeff1", "\u0662\u0662"].map(shownInFull),
  ...["-", "{}[]()*+?.\\^$|", "__proto__", "\u202e\u200d\u0301👩‍👩‍👧‍👦"].map(shownInFull),
  ["100,000 digits", "9".repeat(100_000)],
  ["50,000 letters and a mark", `${"a".repeat(50_000)}!`],
  ["100,000 spaces", " ".repeat(100_000)],
  ["100,000 line feeds", "\n".repeat(100_000)],
  ["10,000 nested brackets", `${"[".repeat(10_000)}${"]".repeat(10_000)}`],
];

/** Odd completions for a real example, and a real completion for examples with one odd field. */
export function probesOf(requests: readonly ScoreRequest[]): Probe[] {
  const [first] = requests;
  if (first === undefined) return [];
  return [...completionProbes(first), ...fieldProbes(requests)];
}

function completionProbes({ example, completion }: ScoreRequest): Probe[] {
  const around: [string, Json][] = [
    ["a byte order mark and a golden completion", `\ufeff${completion}`],
    ["a golden completion again and again", repeated(completion)],
  ];
  return [...VALUES, ...TEXTS, ...around].map(([value, odd]) => ({
    probe: "completion",
    value,
    // What the type forbids is what a file can hold.
    input: { example, completion: odd as string },
  }));
}

/** Each field is tried on the first example that has it: missing, then with every value. */
function fieldProbes(requests: readonly ScoreRequest[]): Probe[] {
  const owners = new Map<string, ScoreRequest>();
  for (const request of requests) {
    for (const field of Object.keys(request.example)) {
      if (!owners.has(field)) owners.set(field, request);
    }
  }
  return [...owners].flatMap(([field, { example, completion }]) => {
    const { [field]: _, ...without } = example as Example & Record<string, Json>;
    const of = (value: string, odd: object): Probe => ({
      probe: "example_field",
      field,
      value,
      input: { example: odd as Example, completion },
    });
    return [
      of("nothing", without),
      ...VALUES.map(([value, odd]) => of(value, { ...without, [field]: odd })),
    ];
  });
}

function shownInFull(value: Json): [string, Json] {
  return [JSON.stringify(value), value];
}

/** Up to 1,000 times, and about a million characters. */
function repeated(text: string): string {
  return text.repeat(Math.min(1000, Math.ceil(1_000_000 / Math.max(1, text.length))));
}

function nested(depth: number): Json {
  let value: Json = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}

function manyKeys(count: number): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, i]));
}
