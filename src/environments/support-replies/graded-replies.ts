/** Groups of several replies to one customer, each of known worth. */

import type { Split } from "../../core/environment.ts";
import { rngAt, shuffled } from "../../core/rng.ts";
import { type Customer, customers } from "./customers.ts";
import { REPLY_PARTS, type ReplyPart, worthOf, writeReply } from "./replies.ts";

export interface GradedReplies {
  readonly id: string;
  readonly prompt: string;
  readonly replies: readonly { readonly text: string; readonly worth: number }[];
}

const PARTS: readonly ReplyPart[] = [...REPLY_PARTS, "invented_promise", "padding"];
const COUNTS: Readonly<Record<Split, number>> = { train: 50, dev: 20, holdout: 40 };
const REPLIES = 5;

/** No reply of a group comes twice, and not all have the same worth. */
export function gradedReplies(split: Split): GradedReplies[] {
  const of = customers(split);
  return Array.from({ length: COUNTS[split] }, (_, i) => {
    const rng = rngAt("support-replies", "graded", split, i);
    const customer = of[i % of.length] as Customer;
    const replies = new Map<string, number>();
    while (replies.size < REPLIES || new Set(replies.values()).size < 2) {
      const parts = shuffled(PARTS, rng).slice(0, 1 + rng.below(5));
      replies.set(writeReply(customer, parts), worthOf(parts));
    }
    return {
      id: `graded-${split}-${i}`,
      prompt: customer.message,
      replies: [...replies].map(([text, worth]) => ({ text, worth })),
    };
  });
}
