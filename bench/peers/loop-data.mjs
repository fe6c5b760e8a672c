// The data of the end-to-end comparisons, in a folder of its own: texts, pairs, and longer prompts.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { loadCheckpoint, saveCheckpoint } from "../../dist/policy/index.js";

export const DATASET = fileURLToPath(
  new URL("../../data/datasets/math_train.jsonl", import.meta.url),
);
export const PI0 = fileURLToPath(new URL("../../assets/pi0", import.meta.url));

/** How many times as long the long prompts are. */
const TIMES = 4;
/** Prompt and completion of the long prompts fit. */
const LONG_CONTEXT = 192;

export async function loopData(folder) {
  const problems = readFileSync(DATASET, "utf8").trim().split("\n").map(JSON.parse.bind(JSON));
  const write = (name, rows) => {
    const file = path.join(folder, `${name}.jsonl`);
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return file;
  };
  const texts = problems.map(({ id, prompt, expected_answer: n }) => ({
    ...{ id, prompt, completion: `Final: ${n}` },
  }));
  const pairs = problems.map(({ id, prompt, expected_answer: n }, i) => ({
    ...{ id, prompt, chosen: `Final: ${n}`, rejected: `Final: ${n + (i % 9) + 1}` },
  }));
  const long = problems.map((row, i) => ({ ...row, prompt: `${sums(i, row)}${row.prompt}` }));
  return {
    texts: write("texts", texts),
    pairs: write("pairs", pairs),
    long: write("long", long),
    longStart: await withLongContext(path.join(folder, "pi0-long")),
  };
}

/** Worked sums before a prompt, other ones for each, that make it four times as long. */
function sums(i, { prompt }) {
  const wanted = (TIMES - 1) * prompt.length;
  let text = "";
  for (let k = 0; text.length < wanted; k++) {
    const [a, b] = [(17 * i + 7 * k) % 90, (29 * i + 11 * k) % 90];
    text += `${a} + ${b} = ${a + b}. `;
  }
  return text.slice(-wanted);
}

/**
 * π₀ for texts longer than its context. Rotary positions have no table to outgrow: only the limit that
 * the checkpoint records changes. What it answers there does not matter for the time.
 */
async function withLongContext(folder) {
  const policy = await loadCheckpoint(PI0);
  await saveCheckpoint(folder, { ...policy, maxLength: LONG_CONTEXT });
  return folder;
}
