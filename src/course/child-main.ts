/**
 * The program of every process that runs a learner's file: `MODE CACHE FILE [args]`.
 *   call      loads the file, makes the calls that the parent sends, sends the results back
 *   run       runs the file as the program of this process
 *   two-step  repeats a two-step run with the file's program: `OUTDIR`
 */

import path from "node:path";
import { pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import type { Call, CallRequest, CallResult } from "./child.ts";

const [, , mode, cache = "", file = "", ...args] = process.argv;
// Never jiti's default cache: that folder is shared, and others may write there.
const jiti = createJiti(import.meta.url, {
  tryNative: false,
  fsCache: cache === "-" ? false : cache,
});

/** What a part of an assignment throws until it is written. */
const NOT_WRITTEN = /^(\w+ is not written yet); see level (\S+)$/;

if (mode === "call") process.once("message", answer);
else if (mode === "two-step") await twoStep(args[0] as string);
else await run();

async function answer({ nonce, calls }: CallRequest): Promise<void> {
  // Removed before the file is loaded, which could answer in our place.
  const send = process.send?.bind(process);
  process.send = undefined as never;
  send?.({ nonce, results: await results(calls) });
}

async function results(calls: readonly Call[]): Promise<CallResult[]> {
  let exports: Record<string, unknown>;
  try {
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

/** Data that can be copied and shown; a cycle or a BigInt is an error of the call. */
function plain(value: unknown): unknown {
  JSON.stringify(value);
  return structuredClone(value);
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function run(): Promise<void> {
  const program = path.resolve(file);
  process.argv = [process.execPath, program, ...args];
  try {
    await jiti.import(program);
  } catch (error) {
    // A LockedRoomError and a part that is not written are shown as a sentence; anything else keeps its stack.
    const { name, message, hint } = error as { name?: string; message?: string; hint?: string };
    const blank = NOT_WRITTEN.exec(message ?? "");
    if (blank) {
      console.error(`${blank[1]}\nNext: ./lockedroom level ${blank[2]} --next`);
      process.exitCode = 65;
      return;
    }
    if (name !== "LockedRoomError") throw error;
    console.error(`${message}${hint ? `\n  ${hint}` : ""}`);
    process.exitCode = 65;
  }
}

async function twoStep(outdir: string): Promise<void> {
  const { runTwoStep } = await import("../learn/index.ts");
  const { train: program } = await jiti.import<{
    train: Parameters<typeof runTwoStep>[0]["program"];
  }>(file);
  if (typeof program !== "function") throw new Error(`${path.basename(file)} exports no train`);
  await runTwoStep({
    ...{ steps: 200, seed: 0, lr: 0.5, baseline: true, credit: "both" },
    ...{ outdir, program, module: pathToFileURL(file).href },
  });
}
