// `npm run trl-parity`: TRL's losses and gradient norms on fixed rows, written to tests/fixtures/trl-parity.
// tests/trl-parity.test.ts compares ours with them; this script runs only when asked.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { promptTokens } from "../../dist/policy/chat.js";
import { saveCheckpoint } from "../../dist/policy/index.js";
import { dataFiles, labelBatches, SETTINGS, startPolicy } from "./parity-data.mjs";
import { pythonOf } from "./python.mjs";

const { values: flags } = parseArgs({
  options: { python: { type: "string" }, install: { type: "boolean" } },
});
const python = pythonOf(flags, "npm run trl-parity");
const folder = fileURLToPath(new URL("../../tests/fixtures/trl-parity", import.meta.url));

const policy = startPolicy();
const start = path.join(folder, "start");
mkdirSync(folder, { recursive: true });
await saveCheckpoint(start, policy);
const data = dataFiles();

const prompt = (text) => [...promptTokens(policy, text)];
const whole = (row, completion) => [
  ...prompt(row.prompt),
  ...policy.tokenizer.encode(completion),
  policy.tokenizer.endTokens[0],
];
const one = (row) => whole(row, row.completion);
const asked = {
  ...{ start, settings: SETTINGS, data, label_batches: labelBatches() },
  max_length: policy.maxLength,
  tokens: {
    texts: data.texts.map(one),
    pairs: data.pairs.flatMap((row) => [whole(row, row.chosen), whole(row, row.rejected)]),
    labels: data.labels.map(one),
    rollouts: data.rollouts.map(one),
  },
  prompt_lengths: data.rollouts.map((row) => prompt(row.prompt).length),
};
const { status, stdout, stderr } = spawnSync(
  python,
  [fileURLToPath(new URL("parity.py", import.meta.url))],
  { input: JSON.stringify(asked), encoding: "utf8", maxBuffer: 2 ** 28 },
);
if (status !== 0) throw new Error(`parity.py ended with ${status}:\n${stderr}`);
const { versions, rollout_logprobs: logprobs, cases } = JSON.parse(stdout);
const rollouts = data.rollouts.map((row, i) => ({
  ...row,
  old: logprobs.old[i],
  reference: logprobs.reference[i],
}));
for (const [name, rows] of Object.entries({ ...data, rollouts })) {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
  writeFileSync(path.join(folder, `${name}.jsonl`), lines.join(""));
}
writeFileSync(
  path.join(folder, "trl.json"),
  `${JSON.stringify({ versions, settings: SETTINGS, cases }, null, 1)}\n`,
);
for (const { method, loss_type: type = "", beta = "", level = "", losses } of cases) {
  console.log([method, type, beta, level, losses[0], losses.at(-1)].join(" "));
}
