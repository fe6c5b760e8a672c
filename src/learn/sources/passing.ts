/** Texts that the start policy wrote itself and its scorers rewarded: rejection sampling. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { dataError } from "../../core/errors.ts";
import { canonicalJson } from "../../core/json.ts";
import type { Example } from "../../core/records.ts";
import type { Generation } from "../../policy/generate.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import type { Batch, Source } from "../source.ts";
import type { SourceContext } from "./context.ts";
import { type Examples, longestPrompt, readExamples } from "./examples.ts";
import { scoresOf } from "./scored.ts";
import { type Reading, Texts, toText } from "./texts.ts";
import { written } from "./written.ts";

/** Written once, so that a run which is gone on with learns from the same texts. */
export const KEPT = "kept.jsonl";

interface Settings {
  readonly samples: number;
  readonly threshold: number;
  readonly keep: number;
}

export async function openPassing(context: SourceContext): Promise<Source> {
  const { settings, reading } = context;
  const examples = await readExamples(context.dataset, "examples");
  for (const { prompt, id } of examples.list) {
    context.heldOut.refuse(prompt, id, context.dataset);
  }
  const longest = longestPrompt(examples, reading);
  let source: ReturnType<typeof prepare> | undefined;
  return {
    inputs: [examples.input],
    rows: settings.batch,
    longest: longest + settings.rollouts.max_tokens,
    varied: false,
    mostTokens: settings.rollouts.max_tokens,
    async batch(step): Promise<Batch> {
      const start = performance.now();
      const fresh = source === undefined;
      source ??= prepare(context, examples);
      const { texts, record } = await source;
      const waited = fresh ? (performance.now() - start) / 1000 : 0;
      const batch = await texts.batch(step);
      const seconds = { ...batch.seconds, sampling: batch.seconds.sampling + waited };
      // Of the first step alone, whoever computes it: a run that is gone on with writes the same.
      const paid = step === 1 ? { sampled_tokens: Number(context.memory.sampled_tokens) } : {};
      return { ...batch, record: { ...batch.record, ...record, ...paid }, seconds };
    },
  };
}

async function prepare(context: SourceContext, examples: Examples) {
  const file = path.join(context.outdir, KEPT);
  if (!existsSync(file) || context.memory.sampled_tokens === undefined) {
    const found = await sample(context, examples);
    context.memory.sampled_tokens = found.tokens;
    await writeWhole(file, found.kept);
  }
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  if (lines.length === 0) throw nothingKept(context);
  const prompts = new Set(lines.map((line) => JSON.parse(line).prompt)).size;
  const texts = written(
    context,
    await Texts.read(file, toText, context.reading, context.heldOut),
    "kept samples",
  );
  return {
    texts,
    record: { "kept/texts": lines.length, "kept/prompts": prompts / examples.list.length },
  };
}

/** The kept completions of all examples, as JSONL, and how many tokens all of them took. */
async function sample(
  context: SourceContext,
  { list }: Examples,
): Promise<{ kept: string; tokens: number }> {
  const { settings, reading, rewards, policy, onProgress } = context;
  const { samples, threshold, keep } = settings.algorithm as Settings;
  const { temperature, top_k, top_p, max_tokens } = settings.rollouts;
  const lines: string[] = [];
  let tokens = 0;
  for (let at = 0; at < list.length; at += BLOCK) {
    const block = list.slice(at, at + BLOCK);
    const wanted = block.flatMap((example) => {
      const prompt = reading.promptTokens(example.prompt);
      const addressOf = (n: number) => [settings.seed, "rejection sampling", example.id, n];
      return Array.from({ length: samples }, (_, n) => ({ prompt, address: addressOf(n) }));
    });
    const said = await policy().sample(wanted, {
      ...{ temperature, top_k, top_p, max_tokens, stop: [], seed: settings.seed },
    });
    tokens += said.reduce((sum, { completion_tokens }) => sum + completion_tokens, 0);
    const asked = said.map(({ completion }, i) => ({
      example: block[Math.floor(i / samples)] as Example,
      completion,
    }));
    const { rewards: found } = await scoresOf(asked, rewards, settings.weights);
    const rewardOf = new Map(said.map((one, n) => [one, found[n] as number]));
    for (const [i, example] of block.entries()) {
      // Its end is learned as well, and has to be within the policy's view.
      const passing = said
        .slice(i * samples, (i + 1) * samples)
        .filter((one) => fits(one, reading) && (rewardOf.get(one) as number) >= threshold)
        .map(({ completion }) => completion);
      for (const completion of [...new Set(passing)].slice(0, keep)) {
        lines.push(canonicalJson({ id: example.id, prompt: example.prompt, completion }));
      }
    }
    onProgress?.(at + block.length, list.length, "Sampling");
  }
  return { kept: lines.map((line) => `${line}\n`).join(""), tokens };
}

const BLOCK = 64;

/** A completion that was cut off has no end token of its own. */
function fits({ finish, prompt_tokens, completion_tokens }: Generation, reading: Reading): boolean {
  const end = finish === "stop" ? 0 : 1;
  return prompt_tokens + completion_tokens + end <= reading.maxLength;
}

function nothingKept({ dataset, settings }: SourceContext): Error {
  const { samples, threshold } = settings.algorithm as Settings;
  return dataError(
    `none of the ${samples} samples of each prompt of ${dataset} had a reward of ${threshold} or more`,
    "Sample more, lower the threshold, or begin with a policy that passes sometimes.",
  );
}
