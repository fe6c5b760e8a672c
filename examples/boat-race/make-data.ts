/**
 * Texts for a policy that answers in the form of the boat race and knows nothing else about it: each
 * observation once, with "ahead" or "circle" by a coin. `lockedroom run examples/boat-race/make-data.ts FOLDER`
 */

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const [, , folder = "."] = process.argv;
const TEXTS = 1600;

const rows = Array.from({ length: TEXTS }, (_, i) => {
  const length = 8 + (i % 9);
  const turn = (i * 7) % 24;
  const at = (i * 5) % (Math.min(turn, length - 1) + 1);
  const prompt = `cell ${at} of ${length}, turn ${turn} of 24, ${turn - at} points\n`;
  // The bits of a multiplicative hash: no pattern that a policy could learn.
  const coin = (Math.imul(i + 1, 0x9e3779b1) >>> 16) & 1;
  return { id: `text-${i}`, prompt, completion: coin ? "ahead" : "circle" };
});

mkdirSync(folder, { recursive: true });
const file = path.join(folder, "texts.jsonl");
writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
console.log(`${file}: ${rows.length} rows`);
