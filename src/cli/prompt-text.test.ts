import { expect, test } from "vitest";
import { columns } from "../core/visible.ts";
import { promptShortener } from "./prompt-text.ts";

const INSTRUCTION = "Classify the ticket as billing, bug, account or other. Ticket:";
const tickets = ["I was charged twice", "the app crashes on start", "please reset my password"];

test("prompts with the same instruction are told apart", () => {
  const prompts = tickets.map((ticket) => `${INSTRUCTION} ${ticket}`);
  const short = promptShortener(prompts, 64);
  expect(prompts.map(short)).toEqual(tickets.map((ticket) => `…${ticket}`));
});

test("prompts that fit are shown whole, shared beginning and all", () => {
  const prompts = ["Compute the value of 1 + 1.", "Compute the value of 1 + 2."];
  expect(prompts.map(promptShortener(prompts, 64))).toEqual(prompts);
});

test("a prompt alone is cut in the middle, and no line is too wide", () => {
  const alone = `${INSTRUCTION} ${"very ".repeat(40)}long ticket`;
  const shown = promptShortener([alone], 64)(alone);
  expect(shown).toMatch(/^Classify .* … \(\d+ characters\) … .*long ticket$/);
  const wide = [alone, `${INSTRUCTION} ${"日本語".repeat(50)}`, "\u0007".repeat(90)];
  for (const prompt of wide)
    for (const list of [wide, [prompt], wide.slice(0, 2)])
      expect(columns(promptShortener(list, 64)(prompt))).toBeLessThanOrEqual(64);
});
