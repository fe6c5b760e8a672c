/**
 * Replies to customers, by the rubric of the environment. The judge recognises the words of a good
 * reply; it does not understand them, so a reply in other words than these scores too low.
 */

import { SPLITS } from "../../../core/environment.ts";
import { customers } from "../../../environments/support-replies/customers.ts";
import { RUBRIC } from "../../../environments/support-replies/support-replies.ts";
import { promptOf, replyOf, sentencesOf, wordsOf } from "../attempt.ts";
import type { Criterion, JudgedTask } from "../criterion.ts";

const MOST_WORDS = 60;

const ACTION =
  /\b(?:we|i)(?:'ll| will| shall| can)? (?:now |also )?(?:ask|send|refund|cancel|post|correct|replace|repair|check|call|ship|credit|reset|contact|return|investigate|fix|exchange)\b/i;
const WHEN =
  /\b(?:today|tomorrow|tonight|at once|immediately|by (?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:within|in|by|after) (?:the next )?\w+ (?:minutes?|hours?|days?|weeks?))\b/i;
const COURTESY = /\b(?:sorry|apolog\w*|thank\w*|regret)\b/i;
const GIFT =
  /\d+ ?(?:euros?|dollars?|pounds?|percent|%)|[€$£] ?\d+|\b(?:voucher|gift|compensation|discount|bonus|free)\b/gi;
/** Words that nearly every message has. */
const COMMON = new Set(
  "hello hi good morning to whom it may concern order please help what now i am quite upset thanks in advance sort out the a an my me was is are were has have had not no but and for from of on at by when after since with this that there new be been".split(
    " ",
  ),
);

const names: Criterion = {
  line: "It names the customer's problem.",
  short: "problem",
  measure(attempt) {
    const reply = new Set(wordsOf(replyOf(attempt)));
    const said = (words: readonly string[]) => words.filter((word) => reply.has(word)).length;
    const prompt = promptOf(attempt);
    const problem = telling(problemOf(prompt) ?? "");
    if (problem.length > 0 && said(problem) === problem.length) return 1;
    return said(telling(prompt)) >= 2 ? 1 : 0;
  },
};

/** A deadline without a step has nothing that it could be a deadline of. */
const next: Criterion = {
  line: "It says what happens next, and by when.",
  short: "next step",
  weight: 2,
  measure(attempt) {
    const steps = sentencesOf(replyOf(attempt)).filter((sentence) => ACTION.test(sentence));
    if (steps.length === 0) return 0;
    return steps.some((sentence) => WHEN.test(sentence)) ? 1 : 0.5;
  },
};

const courteous: Criterion = {
  line: "It apologises or thanks, once.",
  short: "courtesy",
  anyTask: true,
  measure(attempt) {
    const times = sentencesOf(replyOf(attempt)).filter((one) => COURTESY.test(one)).length;
    return times === 1 ? 1 : times === 2 ? 0.5 : 0;
  },
};

/** Money and gifts that the message does not speak of; other promises are not noticed. */
const honest: Criterion = {
  line: "It promises nothing that the customer's message does not support.",
  short: "promises",
  weight: 2,
  measure(attempt) {
    const prompt = promptOf(attempt).toLowerCase();
    const gifts = replyOf(attempt).toLowerCase().match(GIFT) ?? [];
    return gifts.every((gift) => prompt.includes(gift)) ? 1 : 0;
  },
};

const brief: Criterion = {
  line: `It is at most ${MOST_WORDS} words long.`,
  short: "length",
  weight: 2,
  anyTask: true,
  measure: (attempt) => (replyOf(attempt).split(/\s+/).length <= MOST_WORDS ? 1 : 0),
};

/**
 * In the order of the environment's rubric. The weights are those of its labels: a step and its date
 * are two things, and a promise that nobody can keep, or a reply that nobody reads, undoes two.
 */
const CATALOGUE = RUBRIC.map((line) => {
  const criterion = [names, next, courteous, honest, brief].find((one) => one.line === line);
  if (!criterion) throw new Error(`the embedded judge has no measure for: ${line}`);
  return criterion;
});

export const supportReplies: JudgedTask = {
  name: "support-replies",
  recognises: (attempt) => /\border \d{5}: /.test(promptOf(attempt)),
  catalogue: CATALOGUE,
  goal: CATALOGUE,
};

function telling(text: string): string[] {
  return [...new Set(wordsOf(text))].filter((word) => !COMMON.has(word) && !/\d/.test(word));
}

let problems: ReadonlyMap<string, string> | undefined;

/** In the words that a reply would use; a model knows them from the message, this one from a list. */
function problemOf(message: string): string | undefined {
  problems ??= new Map(
    SPLITS.flatMap((split) => customers(split)).map((one) => [one.message, one.problem]),
  );
  return problems.get(message);
}
