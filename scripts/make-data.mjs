#!/usr/bin/env node
// Writes the embedded data set: node scripts/make-data.mjs [OUTDIR=data]. Needs a build (dist/).
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generateDataFiles } from "../dist/datasets/index.js";

const outdir = process.argv[2] ?? "data";

for (const { path, content } of generateDataFiles()) {
  const file = join(outdir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  console.log(`${file}: ${content.split("\n").length - 1} rows`);
}
