/**
 * Replies of known quality, put together from parts, and preferences between two of them. A label is
 * no person's opinion: it follows from the parts, by the rule in `worthOf`.
 */

import type { Split } from "../../core/environment.ts";
import { rngAt, shuffled } from "../../core/rng.ts";
import { type Customer, customers } from "./customers.ts";

/** The good ones. */
export const REPLY_PARTS = ["apology", "problem", "next_step", "deadline"] as const;
export const FAULTS = ["invented_promise", "padding"] as const;

export type ReplyPart = (typeof REPLY_PARTS)[number] | (typeof FAULTS)[number];

/** Long enough to be a fault by itself: the rubric allows 60 words. */
const PADDING =
  "We value every customer and every message, and we always do our very best to make each of our many customers as happy as they can possibly be, today, tomorrow and on all other days, because that is what we have always stood for and always will stand for, come what may, in good years and in bad ones.";

export function writeReply(customer: Customer, parts: readonly ReplyPart[]): string {
  const has = (part: ReplyPart) => parts.includes(part);
  const deadline = has("deadline") ? ` within ${1 + (customer.days % 5)} days` : "";
  return [
    has("apology") ? "We are sorry." : "Hello.",
    has("problem") ? `You wrote about ${customer.problem} (order ${customer.order}).` : "",
    has("next_step") ? `${customer.remedy}${deadline}.` : "Somebody may look at it.",
    has("invented_promise") ? "You also get 200 euros from us." : "",
    has("padding") ? PADDING : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** Good parts less faults; a deadline counts only with a next step. */
export function worthOf(parts: readonly ReplyPart[]): number {
  const good = REPLY_PARTS.filter((part) => parts.includes(part));
  const lost = good.includes("deadline") && !good.includes("next_step") ? 1 : 0;
  return good.length - lost - 2 * FAULTS.filter((part) => parts.includes(part)).length;
}

/** Two replies to one customer, and which is better. */
export interface Preference {
  readonly id: string;
  readonly prompt: string;
  readonly a: string;
  readonly b: string;
  readonly better: "a" | "b";
}

const COUNTS: Readonly<Record<Split, number>> = { train: 200, dev: 80, holdout: 160 };

/** The better one is as often the first as the second, and longer about as often as shorter. */
export function preferences(split: Split): Preference[] {
  const of = customers(split);
  return Array.from({ length: COUNTS[split] }, (_, i) => {
    const rng = rngAt("support-replies", "preferences", split, i);
    const customer = of[i % of.length] as Customer;
    const draw = (): ReplyPart[] =>
      shuffled<ReplyPart>([...REPLY_PARTS, ...FAULTS], rng).slice(0, 1 + rng.below(5));
    let [a, b] = [draw(), draw()];
    while (worthOf(a) === worthOf(b)) [a, b] = [draw(), draw()];
    return {
      id: `preference-${split}-${i}`,
      prompt: customer.message,
      ...{ a: writeReply(customer, a), b: writeReply(customer, b) },
      better: worthOf(a) > worthOf(b) ? "a" : "b",
    };
  });
}
