/** `bandit-train --slow`: asks for each step before it answers, or prints the steps. */

import type { BanditStep } from "../learn/tabular/bandit.ts";
import {
  askedStep,
  isRight,
  readAnswer,
  revealedStep,
  shownStep,
} from "../learn/tabular/bandit-questions.ts";
import type { NextLine } from "./line-prompt.ts";
import { out, paint, print } from "./terminal.ts";

const FORM = "the sign of the advantage (+, -, 0), then up, down or unchanged";

/** Asks for each step; `?` shows the answer, the end of input ends the questions. */
export async function askSteps(
  steps: Iterable<BanditStep>,
  lr: number,
  nextLine: NextLine,
): Promise<void> {
  print(
    `For each step, advantage = reward - baseline. Give ${FORM}: what must happen to the probability of the sampled action. The learning rate is ${lr}. Such as: + up`,
  );
  print("? shows the answer, Ctrl-D ends the questions.");
  const counts = { asked: 0, right: 0 };
  for (const step of steps) {
    out();
    printLines(shownStep(step));
    const line = await nextAnswer(nextLine);
    if (line === undefined) break;
    const given = readAnswer(line);
    if (given) {
      counts.asked++;
      const right = isRight(given, step, lr);
      if (right) counts.right++;
      out(right ? paint("green", "  right") : paint("red", "  wrong"));
    }
    for (const text of revealedStep(step, lr)) out(text);
  }
  out();
  const counted = `${counts.right} of ${counts.asked} answers right.`;
  out(paint("bold", counts.asked === 0 ? "No step was answered." : counted));
  out();
}

/** Asks again until the line is an answer or a question mark. */
async function nextAnswer(nextLine: NextLine): Promise<string | undefined> {
  for (;;) {
    const line = await nextLine();
    if (line === undefined || line.trim() === "?" || readAnswer(line)) return line;
    print("Give a sign and a direction, such as: - down", "  ");
  }
}

/** Every step, with or without its answer. */
export function printSteps(steps: Iterable<BanditStep>, lr: number, reveal: boolean): void {
  for (const step of steps) {
    const shown = shownStep(step);
    const [advantage = "", expected = ""] = revealedStep(step, lr);
    if (reveal) printLines([...shown.slice(0, -1), shown.at(-1) + advantage, expected]);
    else printLines([...shown, askedStep(step)]);
    out();
  }
  if (reveal) return;
  print(
    "The answers are yours to find: advantage = reward - baseline. On a terminal the same command asks for them one by one; --reveal shows them.",
  );
  out();
}

function printLines([head = "", ...lines]: readonly string[]): void {
  out(paint("bold", head));
  for (const line of lines) out(line);
}
