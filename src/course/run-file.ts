/** Runs a TypeScript file as the program of this process: `node run-file.js CACHE FILE [args]`. */

import path from "node:path";
import { createJiti } from "jiti";
import { jitiOptions } from "./typescript.ts";

const [, , cache = "", file = "", ...args] = process.argv;
const program = path.resolve(file);
process.argv = [process.execPath, program, ...args];
await createJiti(import.meta.url, jitiOptions(cache)).import(program);
