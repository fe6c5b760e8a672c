/**
 * `npm run check:similarity`: every metric of text_similarity on 2,000 random pairs of texts, against
 * rapidfuzz, nltk, rouge-score and sacrebleu. `-- --record` also writes the vectors of the tests.
 */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { similarity } from "../dist/graders/index.js";
import { pairsOf } from "./similarity/pairs.mjs";
import { similarityPython } from "./similarity/python.mjs";

const [PAIRS, RECORDED, SEED, TOLERANCE] = [2000, 300, 20, 1e-9];
const VECTORS = fileURLToPath(new URL("../tests/fixtures/similarity.json", import.meta.url));

const python = similarityPython();
if (!python) {
  console.log("Skipped: no Python with pip and venv was found.");
  process.exit(process.env.CI ? 1 : 0);
}
const pairs = pairsOf(PAIRS, SEED);
const { versions, values } = reference(pairs);
const worst = new Map();
pairs.forEach(([hypothesis, text], i) => {
  for (const [name, value] of Object.entries(values[i])) {
    const [metric, variant] = name.split(":");
    const settings = { fuzzy_match: "ratio", bleu: "nltk", ...(variant && { [metric]: variant }) };
    const error = Math.abs(similarity(metric, hypothesis, text, settings) - value);
    const found = worst.get(name) ?? { error: 0, off: 0 };
    const off = found.off + (error > TOLERANCE ? 1 : 0);
    worst.set(name, error > found.error ? { error, off, i } : { ...found, off });
  }
});
console.log(
  Object.entries(versions)
    .map((one) => one.join(" "))
    .join(", "),
);
console.log(`${PAIRS} pairs, largest difference of each metric:`);
for (const [name, { error, off, i }] of worst) {
  console.log(`${off === 0 ? "ok  " : "OFF "} ${name.padEnd(20)} ${error.toExponential(1)}`);
  if (off > 0) console.log(`     ${off} pairs, such as ${JSON.stringify(pairs[i])}`);
}
if (process.argv.includes("--record")) {
  const rows = pairs.slice(0, RECORDED).map((pair, i) => ({ pair, values: values[i] }));
  const lines = rows.map((row) => JSON.stringify(row)).join(",\n");
  writeFileSync(VECTORS, `{"versions":${JSON.stringify(versions)},"rows":[\n${lines}\n]}\n`);
}
process.exitCode = [...worst.values()].every(({ off }) => off === 0) ? 0 : 1;

function reference(given) {
  const script = fileURLToPath(new URL("similarity/reference.py", import.meta.url));
  const { status, stdout, stderr } = spawnSync(python, [script], {
    ...{ input: JSON.stringify(given), encoding: "utf8", maxBuffer: 1 << 28 },
    env: { ...process.env, PYTHONUTF8: "1" },
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
