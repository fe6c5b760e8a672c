import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { trainBandit } from "../learn/tabular/bandit.ts";
import { answerOf } from "../learn/tabular/bandit-questions.ts";
import { askSteps, printSteps } from "./slow-steps.ts";

const LR = 0.5;
const steps = [...trainBandit({ steps: 4, seed: 0, lr: LR, baseline: true })];
let said = "";

beforeEach(() => {
  said = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    said += text;
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

/** Answers in order, with what had been printed when each was asked for. */
function typing(answers: readonly string[]) {
  const left = [...answers];
  const before: string[] = [];
  const nextLine = async () => {
    before.push(said);
    return left.shift();
  };
  return { before, nextLine };
}

test("asks before it answers, marks each answer and counts", async () => {
  const right = steps.map((step) => {
    const { sign, direction } = answerOf(step, LR);
    return `${sign} ${direction}`;
  });
  const { before, nextLine } = typing([...right.slice(0, 2), "- same", "?"]);
  await askSteps(steps, LR, nextLine);
  expect(before).toHaveLength(4);
  for (const [i, text] of before.entries()) {
    expect(text).toContain(`step ${i + 1}\n`);
    expect(text.match(/expected: the probability/g) ?? []).toHaveLength(i);
  }
  expect(said.match(/^ {2}right$/gm)).toHaveLength(2);
  expect(said.match(/^ {2}wrong$/gm)).toHaveLength(1);
  expect(said).toContain("2 of 3 answers right.");
});

test("asks again for what is no answer, and ends where the input ends", async () => {
  const { before, nextLine } = typing(["what?", "+ up"]);
  await askSteps(steps, LR, nextLine);
  expect(before).toHaveLength(3);
  expect(said).toContain("such as: - down");
  expect(said).not.toContain("step 3\n");
  expect(said).toMatch(/\d of 1 answers right/);
});

test("the words are those of the note, and an end of input at once counts nothing", async () => {
  await askSteps(steps, LR, typing([]).nextLine);
  expect(said).toContain("up, down or unchanged");
  expect(said).toContain("No step was answered.");
  expect(said).not.toContain("0 of 0");
});

test("without a terminal the answers are left out, and --reveal shows them", () => {
  printSteps(steps, LR, false);
  expect(said).not.toMatch(/positive|negative|→/);
  expect(said).toContain("--reveal shows them");
  said = "";
  printSteps(steps, LR, true);
  expect(said.match(/advantage \S+ \((?:positive|negative|zero)\)\n {2}expected:/g)).toHaveLength(
    4,
  );
  expect(said).not.toContain("--reveal");
});
