import fc from "fast-check";
import { expect, test } from "vitest";
import type { ZodType } from "zod";
import { toCompletion, toExample, toGoldenRow, toSelectionPack } from "../core/records.ts";
import {
  completionSchema,
  exampleSchema,
  goldenRowSchema,
  selectionPackSchema,
} from "./record-schemas.ts";

const json = fc.jsonValue({ maxDepth: 2 });
const text = fc.oneof({ weight: 4, arbitrary: fc.string() }, json);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
  json,
);
const sample = fc.record({ completion: text, sum_logprob: number }, { requiredKeys: [] });

const record = fc.record(
  {
    id: text,
    prompt: text,
    completion: text,
    expected_answer: json,
    expected_reward: number,
    note: text,
    exploit_class: text,
    sum_logprob: number,
    samples: fc.oneof(fc.array(fc.oneof(fc.string(), sample, json)), json),
  },
  { requiredKeys: [] },
);

test.each<[string, (fields: Record<string, unknown>) => unknown, ZodType]>([
  ["example", toExample, exampleSchema],
  ["completion", toCompletion, completionSchema],
  ["selection pack", toSelectionPack, selectionPackSchema],
  ["golden row", toGoldenRow, goldenRowSchema],
])("%s: the fast check and the schema accept the same records", (_, parse, schema) => {
  let accepted = 0;
  fc.assert(
    fc.property(record, (fields) => {
      let fast = true;
      try {
        parse(fields as Record<string, unknown>);
      } catch {
        fast = false;
      }
      expect(schema.safeParse(fields).success).toBe(fast);
      if (fast) accepted++;
    }),
    { numRuns: 2000, seed: 1 },
  );
  expect(accepted).toBeGreaterThan(20);
});
