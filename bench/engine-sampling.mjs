// Batched sampling, and the alternative: one sequence at a time without a cache.
import { InferenceSession, Tensor } from "onnxruntime-node";
import { rngAt } from "../dist/core/rng.js";
import { input, Session } from "../dist/graph/index.js";
import { feedsOf, inputsOf, place } from "../dist/graph/parameters.js";
import { policyOnnx } from "../dist/policy/export.js";
import { roundedLength } from "../dist/policy/graph-sizes.js";
import { Decoder, generateAll, logitsOf, parametersOf, sampleToken } from "../dist/policy/index.js";
import { inTurn, lowerQuartile, round, times } from "./engine-clock.mjs";
import { architecture, weightsOf } from "./engine-training.mjs";

/** No stop tokens, so that every call gives the same number of tokens. */
const TOKENIZER = { endTokens: [], decode: (ids) => String.fromCharCode(...ids) };

export async function sampling(size, asked, calls) {
  const { sample, close } = batched(size, asked);
  const ms = lowerQuartile(await times(calls, sample));
  await close();
  return row(size, asked, ms);
}

/**
 * The speed-up of the batch in tokens per second: over the exported file, which does not change when
 * the engine gets faster, and over the engine's graph.
 */
export async function samplingGain(size, asked, effort) {
  const ours = batched(size, asked);
  const file = oneAtATime(asked, await exportedFile(size, asked));
  const own = oneAtATime(asked, await ownGraph(size, asked));
  const found = await inTurn(effort, ours.sample, file.sample, own.sample);
  for (const { close } of [ours, file, own]) await close();
  const [batch, ...alone] = found;
  const [gain, ownGain] = alone.map((ms) => round((asked.batch * ms) / batch));
  return {
    ...row(size, asked, batch),
    aloneTokensPerSecond: perSecond(asked.fresh, alone[0]),
    ...{ gain, ownGain },
  };
}

function row(size, { batch, fresh, threads }, ms) {
  return { size, batch, threads, tokensPerSecond: perSecond(batch * fresh, ms) };
}

function perSecond(tokens, ms) {
  return Math.round((tokens * 1000) / ms);
}

function promptOf(row, length) {
  return Array.from({ length }, (_, i) => (7 * row + 11 * i) % 61);
}

/** Reads a batch of prompts and completes them; the first call builds the sessions. */
function batched(size, { batch, prompt, fresh, threads, group = 1 }) {
  const a = architecture(size);
  const decoder = new Decoder(a, place(parametersOf(a)).list, { batch, threads });
  const wanted = Array.from({ length: batch }, (_, i) => ({
    prompt: promptOf(Math.floor(i / group), prompt),
    address: [0, i],
  }));
  const options = {
    parameters: weightsOf(size),
    tokenizer: TOKENIZER,
    sampling: { temperature: 1, top_k: 0, top_p: 1, max_tokens: fresh, stop: [], seed: 0 },
    maxLength: prompt + fresh,
  };
  return {
    sample: () => generateAll(decoder, wanted, options),
    close: () => decoder.close(),
  };
}

/** Each new token is a forward pass over all tokens before it; `next` gives its logits. */
function oneAtATime({ prompt, fresh }, { next, close }) {
  const sample = async () => {
    const rng = rngAt(0, 0);
    const tokens = promptOf(0, prompt);
    for (let i = 0; i < fresh; i++) {
      const logits = await next(tokens);
      tokens.push(sampleToken(logits, { temperature: 1, top_k: 0, top_p: 1 }, rng.next()).token);
    }
  };
  return { sample, close };
}

/** The file of `policy export` with its weights, padded to its length. */
async function exportedFile(size, { prompt, fresh, threads }) {
  const a = architecture(size);
  const length = prompt + fresh;
  const bytes = policyOnnx(
    {
      architecture: a,
      placed: place(parametersOf(a)).list,
      parameters: weightsOf(size),
      maxLength: length,
    },
    { batch: 1, length },
  );
  const session = await InferenceSession.create(bytes, { intraOpNumThreads: threads });
  const tokens = new BigInt64Array(length);
  const feeds = { tokens: new Tensor("int64", tokens, [1, length]) };
  return {
    async next(known) {
      fill(tokens, known);
      const { logits } = await session.run(feeds);
      return lastRow(logits.data, known, a);
    },
    close: () => session.release(),
  };
}

/** The engine's kernels, with a session for each length of the decoder. */
async function ownGraph(size, { prompt, fresh, threads }) {
  const a = architecture(size);
  const { list } = place(parametersOf(a));
  const weights = feedsOf(weightsOf(size), list);
  const forwards = new Map();
  const most = roundedLength(prompt + fresh);
  for (let length = roundedLength(prompt); length <= most; length = roundedLength(length + 1)) {
    const tokens = new BigInt64Array(length);
    const logits = logitsOf(a, inputsOf(list), input("tokens", [1, length], "i64"));
    const session = await Session.create({ logits }, { threads });
    const results = session.results();
    const run = session.repeatedly({ ...weights, tokens }, results);
    forwards.set(length, { tokens, run, logits: results.logits.data, session });
  }
  return {
    async next(known) {
      const { tokens, run, logits } = forwards.get(roundedLength(known.length));
      fill(tokens, known);
      await run();
      return lastRow(logits, known, a);
    },
    async close() {
      for (const { session } of forwards.values()) await session.close();
    },
  };
}

function fill(tokens, known) {
  for (const [i, token] of known.entries()) tokens[i] = BigInt(token);
}

function lastRow(logits, known, { vocabulary }) {
  return logits.subarray((known.length - 1) * vocabulary, known.length * vocabulary);
}
