#!/usr/bin/env node
// Writes the embedded data: node scripts/make-data.mjs [OUTDIR=data].
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createJiti } from "jiti";

const { generateDataFiles } = await createJiti(import.meta.url).import("./data/data-files.ts");

const outdir = process.argv[2] ?? "data";

for (const { path, content } of generateDataFiles()) {
  const file = join(outdir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  console.log(`${file}: ${content.split("\n").length - 1} rows`);
}
