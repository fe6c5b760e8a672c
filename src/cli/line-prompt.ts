/** Lines that a person types at a terminal, one at a time. */

import { createInterface, type Interface } from "node:readline";
import { out } from "./terminal.ts";

/** The next line, or undefined when there are no more. */
export type NextLine = () => Promise<string | undefined>;

/** Whether a person is at both ends: questions can be asked and answers read. */
export function atTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Asks with `prompt` for as long as `work` takes. */
export async function withPrompt<T>(
  prompt: string,
  work: (nextLine: NextLine) => Promise<T>,
): Promise<T> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt });
  try {
    return await work(nextLineOf(lines));
  } finally {
    lines.close();
  }
}

/** Asks again after an empty line. */
function nextLineOf(prompt: Interface): NextLine {
  const waiting: string[] = [];
  let wake = () => {};
  let closed = false;
  prompt.on("line", (line) => {
    if (line.trim() === "") prompt.prompt();
    else {
      waiting.push(line);
      wake();
    }
  });
  prompt.on("close", () => {
    closed = true;
    wake();
  });
  return async () => {
    if (waiting.length === 0 && !closed) {
      prompt.prompt();
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const line = waiting.shift();
    if (line === undefined) out();
    return line;
  };
}
