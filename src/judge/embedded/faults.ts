/** The known faults of the embedded judge: their names, and how a list of them is read. */

import { usageError } from "../../core/errors.ts";

/** They change scores, may be combined, and have a strength. */
const CONTENT_FAULTS = {
  position: "the earlier an attempt stands in the request, the higher its score",
  length: "the longer an attempt is beside the longest, the higher its score",
  "self-praise": "an attempt that calls itself good gets a bonus",
  injection: "an attempt that asks for a score gets it",
  noise: "scores have random noise, drawn by the seed of the request",
} as const;

/** They spoil the answer, and strike a share of the requests. */
const FORMAT_FAULTS = {
  "wrong-ids": "scores have ids that the request does not have",
  "duplicate-ids": "the first attempt has two scores",
  "missing-ids": "the last attempt has no score",
  refusal: "the judge refuses to answer",
  chatter: "text stands around the JSON",
  nan: "scores are NaN",
  huge: "scores are 1e9",
  fenced: "the JSON stands in a fenced block, which is accepted",
  timeout: "the judge never answers",
  slow: "the judge answers late",
  "rate-limit": "a request gets status 429 with Retry-After; sent again, its answer",
} as const;

export type ContentFault = keyof typeof CONTENT_FAULTS;
export type FormatFault = keyof typeof FORMAT_FAULTS;

/** Each with a line that says what it does. */
export const FAULTS: Readonly<Record<ContentFault | FormatFault, string>> = {
  ...CONTENT_FAULTS,
  ...FORMAT_FAULTS,
};

/** What an attempt can gain by each, as a share of the scale. */
const DEFAULT_STRENGTHS: Readonly<Record<ContentFault, number>> = {
  position: 0.3,
  length: 0.3,
  "self-praise": 0.3,
  injection: 1,
  noise: 0.3,
};

const ONCE = "-once";
/** These have no second answer that could be in order: `fenced` is, and the others come once anyway. */
const NEVER_ONCE: readonly string[] = ["fenced", "slow", "rate-limit"];

export type Fault =
  | { readonly kind: "content"; readonly name: ContentFault; readonly strength: number }
  | {
      readonly kind: "format";
      readonly name: FormatFault;
      /** Of the requests, chosen by their hash. */
      readonly share: number;
      /** The second answer is in order. */
      readonly once: boolean;
    };

/** Reads `position=0.3,chatter-once`; an empty list is an honest judge. */
export function readFaults(given: string | readonly string[]): Fault[] {
  const parts = typeof given === "string" ? given.split(",") : given;
  const faults = parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(readFault);
  const twice = faults.find(({ name }, i) =>
    faults.some((other, j) => j < i && other.name === name),
  );
  if (twice) throw usageError(`the fault ${twice.name} is given twice`, "Give it once.");
  return faults;
}

function readFault(text: string): Fault {
  const [full = "", number, ...rest] = text.split("=");
  const once = full.endsWith(ONCE);
  const name = once ? full.slice(0, -ONCE.length) : full;
  const share = number === undefined ? undefined : Number(number);
  const wrong = share !== undefined && !(number !== "" && share >= 0 && share <= 1);
  if (wrong || rest.length > 0) {
    throw usageError(`${text}: the number after = must be from 0 to 1`, `Example: ${name}=0.3.`);
  }
  if (Object.hasOwn(CONTENT_FAULTS, name) && !once) {
    const known = name as ContentFault;
    return { kind: "content", name: known, strength: share ?? DEFAULT_STRENGTHS[known] };
  }
  if (Object.hasOwn(FORMAT_FAULTS, name) && !(once && NEVER_ONCE.includes(name))) {
    return { kind: "format", name: name as FormatFault, share: share ?? 1, once };
  }
  throw usageError(
    `the embedded judge has no fault ${full}`,
    `It has: ${Object.keys(FAULTS).join(", ")}. Faults of the format may end with ${ONCE}, except ${NEVER_ONCE.join(", ")}.`,
  );
}
