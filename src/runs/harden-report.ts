/** What `harden` writes: report.json, and golden rows to accept or reject. */

import { z } from "zod";
import { hash } from "./schemas.ts";

export const HARDEN_SCHEMA = "lockedroom.harden@1";

const kind = {
  attack_class: z.string(),
  attack: z.string(),
  problem: z.enum([
    "wrong_passes",
    "several_pass",
    "right_refused",
    "lenient_form",
    "relation_broken",
    "scorer_error",
    "timeout",
    "not_deterministic",
  ]),
  why: z.string(),
};

export const hardenFindSchema = z.strictObject({
  ...kind,
  /** Of the example. */
  id: z.string(),
  /** Made as small as possible. */
  completion: z.string(),
  expected_reward: z.number(),
  reward: z.number().nullable(),
  code: z.string(),
  /** How many completions showed the same. */
  times: z.int(),
  /** What else led to the same completion. */
  also: z.array(z.strictObject(kind)),
});

/** One kind of edit that changes the reward of a golden row. */
export const hardenEditSchema = z.strictObject({
  edit: z.string(),
  id: z.string(),
  before: z.string(),
  after: z.string(),
  reward_before: z.number(),
  reward_after: z.number(),
  times: z.int(),
});

export const hardenMutantSchema = z.strictObject({
  /** Stays the same while the line does; `--accept` names mutants by it. */
  mutant: z.string(),
  operator: z.string(),
  file: z.string(),
  line: z.int(),
  before: z.string(),
  after: z.string(),
  /**
   * `survived`: no golden row notices, although some completion gets another reward. `code_only`:
   * of the completions that were tried, some get another code and none another reward. `silent`:
   * none gets either. `refused`: it tried to write, to use the network or to start a program, which
   * no mutant may, or read a file while it scored.
   */
  outcome: z.enum([
    ...["killed", "survived", "code_only", "silent", "accepted", "refused", "does_not_load"],
  ] as const),
  /** The golden row that notices, by its number. */
  killed_by: z.int().nullable(),
  /** A completion whose reward the mutant changes. */
  witness: z
    .strictObject({
      id: z.string(),
      completion: z.string(),
      reward: z.number().nullable(),
      reward_of_mutant: z.number().nullable(),
    })
    .nullable(),
});

export const hardenReportSchema = z.strictObject({
  schema: z.literal(HARDEN_SCHEMA),
  scorer: z.strictObject({ name: z.string(), version: z.string(), source_sha256: hash }),
  dataset_sha256: hash,
  golden_sha256: z.array(hash),
  settings: z.strictObject({
    seed: z.int(),
    inputs: z.int(),
    seconds: z.number().nullable(),
    strict: z.boolean(),
    classes: z.array(z.string()),
  }),
  inputs: z.strictObject({
    forms: z.int(),
    right_answers: z.int(),
    attacks: z.int(),
    golden_edits: z.int(),
    search: z.int(),
    /** Of those before; at most `settings.inputs`. */
    counted: z.int(),
    /** Completions scored again, to see which of them reached new code. */
    coverage: z.int(),
    relations: z.int(),
    minimising: z.int(),
    mutants: z.int(),
    all: z.int(),
  }),
  /** Why it ended before its number of inputs; null where it did not. */
  stopped: z.enum(["time", "scorer_hangs"]).nullable(),
  forms: z.array(z.strictObject({ before: z.string(), after: z.string(), from: z.string() })),
  /** Forms that the user named and in which right answers did not pass, with a text that was tried. */
  forms_not_used: z.array(z.strictObject({ form: z.string(), tried: z.string() })),
  classes: z.array(
    z.strictObject({
      name: z.string(),
      why: z.string(),
      tried: z.int(),
      finds: z.int(),
      /** Right answers in other forms that pass. */
      lenient: z.int(),
    }),
  ),
  finds: z.array(hardenFindSchema),
  /** Kinds of attack that are not listed, because their class has many. */
  finds_left_out: z.int(),
  lenient: z.array(hardenFindSchema),
  edits: z.array(hardenEditSchema),
  edits_left_out: z.int(),
  /** The share of the scorer's code, inside functions, that ran; null where V8 reported none. */
  search: z.strictObject({ code_reached: z.number().nullable(), kept: z.int() }),
  relations: z.array(
    z.strictObject({ name: z.string(), expect: z.string(), checked: z.int(), broken: z.int() }),
  ),
  mutation: z
    .strictObject({
      golden_rows: z.int(),
      probes: z.int(),
      killed: z.int(),
      survived: z.int(),
      code_only: z.int(),
      silent: z.int(),
      accepted: z.int(),
      refused: z.int(),
      does_not_load: z.int(),
      /** killed / (killed + survived); null without any. */
      score: z.number().nullable(),
      mutants: z.array(hardenMutantSchema),
    })
    .nullable(),
});

export type HardenFind = z.infer<typeof hardenFindSchema>;
export type HardenEdit = z.infer<typeof hardenEditSchema>;
export type HardenMutant = z.infer<typeof hardenMutantSchema>;
/** What `harden` found. @see {@link harden} */
export type HardenReport = z.infer<typeof hardenReportSchema>;
