// Sampling as the product does it, and what it replaces: one sequence at a time without a cache.
import { rngAt } from "../dist/core/rng.js";
import { input, Session } from "../dist/graph/index.js";
import { place } from "../dist/graph/parameters.js";
import { choose, Decoder, generateBatch, logitsOf, parametersOf } from "../dist/policy/index.js";
import { inTurn, lowerQuartile, round, times } from "./engine-clock.mjs";
import { architecture, weightsOf } from "./engine-training.mjs";

/** Nothing ends a completion early, so that every call gives the same number of tokens. */
const TOKENIZER = { endTokens: [], decode: (ids) => String.fromCharCode(...ids) };

export async function sampling(size, asked, calls) {
  const { sample, close } = batched(size, asked);
  const ms = lowerQuartile(await times(calls, sample));
  await close();
  return row(size, asked, ms);
}

/** Beside it the one at a time, and how many times as many tokens a second the batch gives. */
export async function samplingGain(size, asked, effort) {
  const ours = batched(size, asked);
  const alone = await oneAtATime(size, asked);
  const found = await inTurn(effort, ours.sample, alone.sample);
  await ours.close();
  await alone.close();
  return {
    ...row(size, asked, found.ours),
    aloneTokensPerSecond: perSecond(asked.fresh, found.floor),
    gain: round(asked.batch * found.ratio),
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
function batched(size, { batch, prompt, fresh, threads }) {
  const a = architecture(size);
  const decoder = new Decoder(a, place(parametersOf(a)).list, { batch, threads });
  const wanted = Array.from({ length: batch }, (_, i) => ({
    prompt: promptOf(i, prompt),
    address: [0, i],
  }));
  const options = {
    parameters: weightsOf(size),
    tokenizer: TOKENIZER,
    sampling: { temperature: 1, top_k: 0, top_p: 1, max_tokens: fresh, stop: [], seed: 0 },
    maxLength: prompt + fresh,
  };
  return {
    sample: () => generateBatch(decoder, wanted, options),
    close: () => decoder.close(),
  };
}

/** Each new token is a forward pass over all tokens before it, with a session for each length. */
async function oneAtATime(size, { prompt, fresh, threads }) {
  const a = architecture(size);
  const vector = weightsOf(size);
  const sessions = new Map();
  for (let length = rounded(prompt); length < prompt + fresh + STEP; length += STEP) {
    sessions.set(length, await forward(a, vector, length, threads));
  }
  const sample = async () => {
    const rng = rngAt(0, 0);
    const tokens = promptOf(0, prompt);
    for (let i = 0; i < fresh; i++) {
      const logits = await sessions.get(rounded(tokens.length)).next(tokens);
      tokens.push(choose(logits, { temperature: 1, topK: 0, topP: 1 }, rng.next()).token);
    }
  };
  const close = async () => {
    for (const session of sessions.values()) await session.close();
  };
  return { sample, close };
}

/** As the decoder rounds. */
const STEP = 16;
const rounded = (n) => Math.ceil(n / STEP) * STEP;

async function forward(a, vector, length, threads) {
  const { list } = place(parametersOf(a));
  const leaves = new Map(list.map(({ name, shape }) => [name, input(name, shape)]));
  const logits = logitsOf(a, (name) => leaves.get(name), input("tokens", [1, length], "i64"));
  const session = await Session.create({ logits }, { threads });
  const weights = Object.fromEntries(
    list.map(({ name, shape, offset, size }) => [
      name,
      session.tensor(vector.subarray(offset, offset + size), shape),
    ]),
  );
  return {
    async next(known) {
      const tokens = new BigInt64Array(length);
      for (const [i, token] of known.entries()) tokens[i] = BigInt(token);
      const { logits } = await session.run({ ...weights, tokens });
      return logits.subarray((known.length - 1) * a.vocabulary, known.length * a.vocabulary);
    },
    close: () => session.close(),
  };
}
