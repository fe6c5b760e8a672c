// A training step or a batch of samples by our engine: prints the milliseconds of each call as JSON.
// `node engine-ours.mjs '{"what":"step","size":"nano","threads":2,"batch":64,"length":48,"calls":9}'`
import { LocalEngine } from "../../dist/engine/index.js";
import { algorithmOf, trainSettings } from "../../dist/learn/index.js";
import { lossCallOf } from "../../dist/learn/update.js";
import { CharacterTokenizer, checkpointOf, initialise } from "../../dist/policy/index.js";
import { times } from "../engine-clock.mjs";
import { architecture } from "../engine-training.mjs";

/** 61 characters and three special tokens are the vocabulary of the benchmarks. */
const ALPHABET = String.fromCodePoint(...Array.from({ length: 61 }, (_, i) => 48 + i));

/** No stop tokens, so that every call gives the same number of tokens. */
class Endless extends CharacterTokenizer {
  endTokens = [];
}

const asked = JSON.parse(process.argv[2]);
const engine = new LocalEngine(policy(asked.size), { threads: asked.threads });
const call = { step: trainingStep, sample: samples }[asked.what](asked);
const ms = await times(asked.calls, call);
await engine.close();
console.log(JSON.stringify({ ms }));

function policy(size) {
  const a = architecture(size);
  return checkpointOf({
    ...{ architecture: a, tokenizer: new Endless(ALPHABET), parameters: initialise(a, 0) },
    ...{ trained: null, maxLength: 256 },
  });
}

/** Supervised fine-tuning on whole texts: every token but the first is learned. */
function trainingStep({ batch, length }) {
  const sft = algorithmOf("sft");
  const settings = trainSettings(sft, { steps: 1 });
  const { beta1, beta2, epsilon, weight_decay: weightDecay, clip_norm: clipNorm } = settings.adam;
  const loss = lossCallOf(engine.can, sft, settings, length);
  const rows = Array.from({ length: batch }, (_, r) => ({
    tokens: Array.from({ length }, (_, i) => ((r * length + i) * 7) % 61),
    actions: [[1, length]],
    columns: {},
  }));
  const options = {
    adam: { beta1, beta2, epsilon, weightDecay, clipNorm },
    ...{ learningRate: 1e-3, klCoefficient: 0 },
    microBatchSize: null,
  };
  return () => engine.update(rows, loss, options);
}

function samples({ batch, prompt, fresh }) {
  const requests = Array.from({ length: batch }, (_, r) => ({
    prompt: Array.from({ length: prompt }, (_, i) => ((r * prompt + i) * 7) % 61),
    address: [0, r],
  }));
  const settings = { temperature: 1, top_k: 0, top_p: 1, max_tokens: fresh, stop: [], seed: 0 };
  return async () => {
    const found = await engine.sample(requests, settings);
    const tokens = found.reduce((sum, { tokens }) => sum + tokens.length, 0);
    if (tokens !== batch * fresh) throw new Error(`${tokens} tokens, expected ${batch * fresh}`);
  };
}
