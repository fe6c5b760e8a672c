// The start and the rows of the comparison with TRL: a small random policy and 16 rows for each method.
import { readFileSync } from "node:fs";
import { permutation } from "../../dist/learn/sources/order.js";
import { CharacterTokenizer, checkpointOf, initialise, SIZES } from "../../dist/policy/index.js";

export const ROWS = 16;
export const SETTINGS = {
  steps: 8,
  learning_rate: 0.001,
  beta: 0.1,
  adam: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0, clip_norm: 1 },
  /** Of GRPO. */
  clip: 0.2,
  max_tokens: 32,
};

const ALPHABET = "\n *+,-.0123456789:<=>CFRTaehilmnoprstuwy";
const SEED = 7;
/** Random weights of the usual size give a flat distribution, on which little can go wrong. */
const SCALE = 5;

export function startPolicy() {
  const tokenizer = new CharacterTokenizer(ALPHABET);
  const architecture = {
    ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 32, layers: 2 },
    ...{ heads: 4, keyHeads: 2, headSize: 8, inner: 64 },
  };
  const parameters = initialise(architecture, SEED).map((x) => (x === 1 ? 1 : SCALE * x));
  return checkpointOf({ architecture, tokenizer, parameters, trained: null, maxLength: 80 });
}

function problems() {
  const file = new URL("../../data/datasets/math_train.jsonl", import.meta.url);
  const lines = readFileSync(file, "utf8").split("\n").slice(0, ROWS);
  return lines.map((line) => JSON.parse(line));
}

/** Completions of different lengths: the bare answer, or with working before it. */
function answer(i, value) {
  const final = `Final: ${value}`;
  return [final, `Total = ${value}.\n${final}`, `Then the answer is ${value}`][i % 3];
}

/** Files as `train` reads them. */
export function dataFiles() {
  const all = problems();
  return {
    texts: all.map(({ id, prompt, expected_answer: value }, i) => ({
      ...{ id, prompt, completion: answer(i, value) },
    })),
    pairs: all.map(({ id, prompt, expected_answer: value }, i) => ({
      ...{ id, prompt, chosen: answer(i, value), rejected: answer(i + 1, value + 3 * i - 20) },
    })),
    labels: all.map(({ id, prompt, expected_answer: value }, i) => {
      const label = i % 5 !== 1 && i % 5 !== 3;
      return { id, prompt, completion: answer(i, label ? value : value - 7), label };
    }),
    rollouts: rollouts(all),
  };
}

/** One success, two, three of four, and a group without a signal. */
const ADVANTAGES = [
  [1.5, -0.5, -0.5, -0.5],
  [0.866, 0.866, -0.866, -0.866],
  [-1.5, 0.5, 0.5, 0.5],
  [0, 0, 0, 0],
];

/** Completions that share prompts, with the advantages of their groups. */
function rollouts(all) {
  return ADVANTAGES.flatMap((group, p) =>
    group.map((advantage, n) => {
      const { prompt, expected_answer: value } = all[p];
      return { prompt, completion: answer(p + n, value + 11 * n), advantage };
    }),
  );
}

/**
 * The order of the labels in each step. KTO compares prompts with the completion of a neighbour: ours
 * with the next of the batch, TRL with the one before, so TRL is given each batch in reverse.
 */
export function labelBatches() {
  return Array.from({ length: SETTINGS.steps }, (_, epoch) =>
    Array.from(permutation(ROWS, 0, "labels", epoch)).reverse(),
  );
}
