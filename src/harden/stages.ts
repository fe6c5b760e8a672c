/** The stages of an attack that share the number of inputs, in their order. */

import { dataError } from "../core/errors.ts";
import { rngAt, shuffled } from "../core/rng.ts";
import { acceptedForms, formCandidates, formsNotUsed } from "./answer-forms.ts";
import type { AnswerForm, AttackClass } from "./attack.ts";
import type { Coverage } from "./coverage.ts";
import type { Data } from "./data.ts";
import type { Effort } from "./effort.ts";
import type { Finds } from "./finds.ts";
import { editGoldenRows } from "./golden-edits.ts";
import { checkRightAnswers } from "./right-answers.ts";
import { runAttacks } from "./run-attacks.ts";
import { searchForFinds } from "./search.ts";
import { goldenEntries, seedsOf } from "./seeds.ts";
import type { Phase, Subject } from "./subject.ts";

export interface Stages extends Effort {
  readonly coverage: Coverage;
  readonly data: Data;
  readonly classes: readonly AttackClass[];
  /** Texts that may matter to the scorer. */
  readonly words: readonly string[];
  /** Forms that the user names. */
  readonly forms: readonly string[];
  readonly lenient: Finds;
  readonly strict: boolean;
  readonly seed: number;
}

const COMMON_FORM: AnswerForm = { before: "Final: ", after: "", from: "common" };
/** Shares of the inputs that are left at the stage; the search gets the rest. */
const SHARE = { forms: 0.5, right_answers: 0.1, attacks: 0.4, golden_edits: 0.3 };
const ATTACKS_ALONE = 0.5;

export async function runStages(stages: Stages) {
  const { subject, data, classes, words, seed } = stages;
  const stage = <T>(phase: Phase, share: number, work: (effort: Effort) => Promise<T>) => {
    const { finds, stop } = stages;
    const inputs = Math.floor((stages.inputs - subject.inputs) * share);
    return subject.during(phase, () => work({ subject, finds, stop, inputs }));
  };
  const targets = shuffled(data.targets, rngAt(seed, "harden", "examples"));
  const candidates = formCandidates(stages.forms, data.golden, words);
  const forms = await stage("forms", SHARE.forms, ({ inputs }) =>
    acceptedForms(subject, targets, candidates, inputs),
  );
  requireSomeAnswer(subject);
  const [first = COMMON_FORM] = forms;
  if (forms.length > 0)
    await stage("right_answers", SHARE.right_answers, (effort) =>
      checkRightAnswers(effort, targets, first),
    );
  const usedForms = forms.length > 0 ? forms : [COMMON_FORM];
  const share = data.golden.length > 0 ? SHARE.attacks : ATTACKS_ALONE;
  const { strict, lenient } = stages;
  const tally = await stage("attacks", share, (effort) =>
    runAttacks({ ...effort, classes, targets, forms: usedForms, strict, lenient }),
  );
  const edited = await stage("golden_edits", SHARE.golden_edits, (effort) => {
    const rng = rngAt(seed, "harden", "golden");
    return editGoldenRows({ ...effort, words, rng, rows: goldenEntries(data.golden) });
  });
  const seeds = seedsOf(targets, usedForms, classes, data.golden);
  const kept = await stage("search", 1, (effort) => {
    const rng = rngAt(seed, "harden", "search");
    return searchForFinds({ ...effort, coverage: stages.coverage, targets, seeds, words, rng });
  });
  const notUsed = formsNotUsed(stages.forms, forms, targets);
  return { forms, notUsed, tally, edited, seeds, kept, reached: stages.coverage.reached };
}

/** Attacks on a scorer that fails on everything would only repeat its error. */
function requireSomeAnswer({ onlyFailure, inputs }: Subject): void {
  if (onlyFailure === undefined) return;
  throw dataError(
    `the scorer failed on all ${inputs} completions that were tried: ${onlyFailure}`,
    "Correct it first; `validate-scorer` shows on which rows it fails.",
  );
}
