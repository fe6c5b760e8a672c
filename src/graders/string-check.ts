/** `string_check`: 1 or 0 by comparing two texts, character by character. */

import { templateField } from "./fields.ts";
import type { StringCheck } from "./grader-schema.ts";
import { type Grade, type OpenKind, thresholdDetails } from "./opened.ts";

type Operation = StringCheck["operation"];

const COMPARE: Readonly<Record<Operation, (input: string, reference: string) => boolean>> = {
  eq: (input, reference) => input === reference,
  ne: (input, reference) => input !== reference,
  like: (input, reference) => input.includes(reference),
  // Lower case by Unicode's rules without a language; "ß" and "SS" stay different.
  ilike: (input, reference) => input.toLowerCase().includes(reference.toLowerCase()),
};

const WORDS: Readonly<Record<Operation, string>> = {
  ...{ eq: "equals", ne: "differs from", like: "contains" },
  ilike: "contains, in any case,",
};

/** What majority votes count; longer texts would fill the rows. */
const LONGEST_PARSED = 200;

export const openStringCheck: OpenKind<StringCheck> = (grader, context) => {
  const input = templateField(grader.input, "input", context);
  const reference = templateField(grader.reference, "reference", context);
  const compare = COMPARE[grader.operation];
  return {
    ...{ exact: true, deterministic: true, range: undefined },
    codes: ["match", "no_match"],
    itemFields: [...input.itemFields, ...reference.itemFields],
    spec: `1 if "${grader.input}" ${WORDS[grader.operation]} "${grader.reference}", otherwise 0`,
    grade(variables) {
      const given = input.render(variables);
      if (typeof given !== "string") return given;
      const wanted = reference.render(variables);
      if (typeof wanted !== "string") return wanted;
      const reward = compare(given, wanted) ? 1 : 0;
      const grade: Grade = {
        ...{ reward, code: reward === 1 ? "match" : "no_match" },
        details: {
          ...(input.usesSample && given.length <= LONGEST_PARSED && { parsed: given }),
          ...thresholdDetails(grader.pass_threshold, reward),
        },
      };
      return grade;
    },
  };
};
