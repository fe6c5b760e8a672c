/**
 * Replies to customers. Nothing can check them by rule, so the environment gives no reward of its own:
 * a judge needs the rubric, and the labelled preferences show what a judge is worth.
 */

import type { Split } from "../../core/environment.ts";
import type { Example } from "../../core/records.ts";
import type { EnvironmentDefinition } from "../definition.ts";
import { type Customer, customers } from "./customers.ts";
import { REPLY_PARTS, writeReply } from "./replies.ts";

/** What a good reply has; a judge is given these lines. */
export const RUBRIC: readonly string[] = [
  "It names the customer's problem.",
  "It says what happens next, and by when.",
  "It apologises or thanks, once.",
  "It promises nothing that the customer's message does not support.",
  "It is at most 60 words long.",
];

export const supportReplies: EnvironmentDefinition<Customer> = {
  name: "support-replies",
  version: "1.0.0",
  spec: `Reply to a customer's message. There is no reward: whether a reply is good is for a judge or a person to say. Rubric: ${RUBRIC.join(" ")}`,
  codes: ["replied", "empty_reply"],
  solved: ["replied"],
  rewards: null,
  maxTurns: 1,
  random: false,
  tasks,
  reset: (task) => ({
    state: (task as unknown as { customer: Customer }).customer,
    observation: [{ role: "user", content: `${task.prompt}\n` }],
    reward: null,
  }),
  step: (state, { text }) => ({
    state,
    observation: [],
    reward: null,
    metrics: { words: wordsIn(text) },
    end: {
      code: text.trim() === "" ? "empty_reply" : "replied",
      terminated: true,
      details: {},
    },
  }),
  players: { gold: (customer) => writeReply(customer, REPLY_PARTS), idle: () => "" },
  ansi: ({ message }) => message,
};

export function wordsIn(text: string): number {
  return text.trim() === "" ? 0 : text.trim().split(/\s+/).length;
}

function tasks(split: Split): Example[] {
  return customers(split).map((customer, i) => ({
    id: `customer-${split}-${i}`,
    prompt: customer.message,
    customer,
  })) as unknown as Example[];
}
