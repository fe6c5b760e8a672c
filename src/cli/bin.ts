#!/usr/bin/env node
/** The entry point. `--version` is answered before anything else is loaded. */

import { readFileSync } from "node:fs";

const [only, more] = process.argv.slice(2);
if (more === undefined && (only === "--version" || only === "-V")) {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  process.stdout.write(`${(JSON.parse(manifest) as { version: string }).version}\n`);
} else {
  const { run } = await import("./main.ts");
  await run(process.argv.slice(2));
}
