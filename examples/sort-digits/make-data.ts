/**
 * Writes texts to learn from and two held-out sets: three digits, and the same digits in order.
 * `lockedroom run examples/sort-digits/make-data.ts FOLDER`
 */

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const [, , folder = "."] = process.argv;

const rows = Array.from({ length: 1000 }, (_, i) => {
  // 389 has no factor in common with 1000: every number once, in a mixed order.
  const digits = String((i * 389) % 1000).padStart(3, "0");
  return { id: digits, prompt: `sort ${digits}: `, completion: [...digits].sort().join("") };
});

mkdirSync(folder, { recursive: true });
for (const [name, from, to] of [
  ["texts", 0, 800],
  ["dev", 800, 900],
  ["holdout", 900, 1000],
] as const) {
  const lines = rows.slice(from, to).map((row) => `${JSON.stringify(row)}\n`);
  writeFileSync(path.join(folder, `${name}.jsonl`), lines.join(""));
  console.log(`${path.join(folder, `${name}.jsonl`)}: ${lines.length} rows`);
}
