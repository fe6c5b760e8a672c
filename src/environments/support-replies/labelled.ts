/**
 * The customers of support-replies with a reward: the parts of a reply are read from its text, and the
 * rule of the labelled preferences says what they are worth. It validates training that learns from a
 * judge; a judge is not told of it.
 */

import type { EnvironmentDefinition } from "../definition.ts";
import type { Customer } from "./customers.ts";
import { REPLY_PARTS, type ReplyPart, worthOf } from "./replies.ts";
import { RUBRIC, supportReplies, wordsIn } from "./support-replies.ts";

const MOST_WORDS = 60;
const MOST_WORTH = REPLY_PARTS.length;

const APOLOGY = /\b(?:sorry|apologi[sz]e|apology|thank you|thanks)\b/gi;
const DEADLINE = /\bwithin \d+ (?:hours?|days?)\b/i;
/** Money: no message asks for any. */
const GIFT = /\d+ ?(?:euros?|dollars?|pounds?)|[€$£] ?\d/i;

/** The parts of a reply, good ones and faults, as far as its text shows them. */
export function partsIn(text: string, { problem, remedy }: Customer): ReplyPart[] {
  const has = (words: string) => text.toLowerCase().includes(words.toLowerCase());
  const found: Readonly<Record<ReplyPart, boolean>> = {
    apology: text.match(APOLOGY)?.length === 1,
    problem: has(problem),
    next_step: has(remedy),
    deadline: DEADLINE.test(text),
    invented_promise: GIFT.test(text),
    padding: wordsIn(text) > MOST_WORDS,
  };
  return (Object.keys(found) as ReplyPart[]).filter((part) => found[part]);
}

export const supportRepliesLabelled: EnvironmentDefinition<Customer> = {
  ...supportReplies,
  name: "support-replies-labelled",
  version: "1.0.0",
  spec: `Reply to a customer's message. The reward is (good parts − 2 × faults) / ${MOST_WORTH}. Good parts: an apology or thanks, once; the customer's problem in the words of the list; the remedy of the list; "within N days" or hours, which counts only with the remedy. Faults: money that nobody asked for; more than ${MOST_WORDS} words. A reply is good with all four parts and no fault. Rubric: ${RUBRIC.join(" ")}`,
  codes: ["good_reply", "partly_good", "faulty_reply", "empty_reply"],
  solved: ["good_reply"],
  rewards: [-1, 1],
  reset: (task, seed) => ({ ...supportReplies.reset(task, seed), reward: 0 }),
  step: (customer, action) => {
    const parts = partsIn(action.text, customer);
    const worth = worthOf(parts);
    const end = { code: codeOf(action.text, parts, worth), terminated: true, details: { parts } };
    return { ...supportReplies.step(customer, action), reward: worth / MOST_WORTH, end };
  },
};

function codeOf(text: string, parts: readonly ReplyPart[], worth: number): string {
  if (text.trim() === "") return "empty_reply";
  if (worth === MOST_WORTH) return "good_reply";
  return parts.some((part) => !(REPLY_PARTS as readonly string[]).includes(part))
    ? "faulty_reply"
    : "partly_good";
}
