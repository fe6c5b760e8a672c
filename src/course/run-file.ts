/** Runs a TypeScript file as the program of this process: `node run-file.js CACHE FILE [args]`. */

import path from "node:path";
import { createJiti } from "jiti";
import { jitiOptions } from "./typescript.ts";

const [, , cache = "", file = "", ...args] = process.argv;
const program = path.resolve(file);
process.argv = [process.execPath, program, ...args];
try {
  await createJiti(import.meta.url, jitiOptions(cache)).import(program);
} catch (error) {
  // What the library says to a person is a sentence here as well; anything else keeps its stack.
  const { name, message, hint } = error as { name?: string; message?: string; hint?: string };
  if (name !== "LockedRoomError") throw error;
  console.error(`${message}${hint ? `\n  ${hint}` : ""}`);
  process.exitCode = 65;
}
