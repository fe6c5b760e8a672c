/** The child's side of `callExports`: loads one file, makes the calls, sends the answers, ends. */

import { createJiti } from "jiti";
import type { Answer, Call, Question } from "./child.ts";
import { jitiOptions } from "./typescript.ts";

process.once("message", async ({ nonce, file, cache, calls }: Question) => {
  // Taken away before the file is loaded, which could answer in our place.
  const send = process.send?.bind(process);
  process.send = undefined as never;
  send?.({ nonce, answers: await answers(file, cache, calls) });
});

async function answers(file: string, cache: string, calls: readonly Call[]): Promise<Answer[]> {
  let exports: Record<string, unknown>;
  try {
    const jiti = createJiti(import.meta.url, jitiOptions(cache));
    exports = await jiti.import<Record<string, unknown>>(file);
  } catch (error) {
    return calls.map(() => ({ error: `it does not load: ${text(error)}` }));
  }
  return calls.map((call) => {
    try {
      const found = exports[call.export];
      if (call.args === undefined) {
        if (found === undefined) return { error: `no export \`${call.export}\`` };
        return { value: plain(found) };
      }
      if (typeof found !== "function") return { error: `no function \`${call.export}\`` };
      return { value: plain((found as (...args: unknown[]) => unknown)(...call.args)) };
    } catch (error) {
      return { error: text(error) };
    }
  });
}

/** Data that can be copied and shown; a loop or a big integer is an error of the call. */
function plain(value: unknown): unknown {
  JSON.stringify(value);
  return structuredClone(value);
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
