/** Texts or episodes that the initial policy wrote itself and that were rewarded: rejection sampling. */

import path from "node:path";
import { z } from "zod";
import { dataError } from "../../core/errors.ts";
import { canonicalJson } from "../../core/json.ts";
import type { Encoder } from "../../engine/engine.ts";
import type { Generation } from "../../policy/generate.ts";
import { KEPT } from "../../runs/artifacts.ts";
import { fileExists, readText, writeWhole } from "../../runs/whole-file.ts";
import { whyUnrewarded } from "../alarms/reasons.ts";
import { type Episode, play } from "../play.ts";
import type { Batch, DataContext, Source, SourceParts, TrainingData } from "../source.ts";
import { episodeMetrics, type PlayedOut } from "./episode-metrics.ts";
import { type Examples, examplesIn, longestRow, promptsOf } from "./examples.ts";
import { textSource } from "./files.ts";
import { type Choice, episodeLines, keptEpisodes, worthKeeping } from "./kept-episodes.ts";
import { countOf } from "./rollout-metrics.ts";
import { Texts, toText } from "./texts.ts";

/** Prompts that are sampled and scored at once. */
const BLOCK = 64;

interface Settings extends Choice {
  readonly samples: number;
}

/**
 * How many tokens the kept texts cost; null until they are sampled. Their file is written once, so that
 * a resumed run learns from the same texts.
 */
const STATE = z.object({ sampled_tokens: z.number().nullable() });

export async function readRejectionSampling(context: DataContext): Promise<TrainingData> {
  const { settings } = context;
  const examples = await examplesIn(context);
  context.heldOut.refuse(examples);
  return {
    inputs: [examples.input],
    examples,
    prompts: promptsOf(examples),
    longest: longestRow(examples, context, settings.rollouts.max_tokens),
    maxTokens: settings.rollouts.max_tokens,
    open: (parts) => new RejectionSampling(context, examples, parts),
  };
}

class RejectionSampling implements Source {
  readonly #context: DataContext;
  readonly #examples: Examples;
  readonly #parts: SourceParts;
  #sampledTokens: number | null;
  #kept: { source: Source; metrics: Record<string, number> } | undefined;
  /** What is recorded of the sampling, with the first step. */
  #sampled: Pick<Batch, "metrics" | "outcomes"> = { metrics: {} };

  constructor(context: DataContext, examples: Examples, parts: SourceParts) {
    this.#context = context;
    this.#examples = examples;
    this.#parts = parts;
    this.#sampledTokens = STATE.safeParse(parts.saved).data?.sampled_tokens ?? null;
  }

  state() {
    return { sampled_tokens: this.#sampledTokens };
  }

  async batch(step: number): Promise<Batch> {
    const start = performance.now();
    const fresh = this.#kept === undefined;
    this.#kept ??= await this.#prepare();
    const waited = fresh ? (performance.now() - start) / 1000 : 0;
    const batch = await this.#kept.source.batch(step);
    const seconds = { ...batch.seconds, sampling: batch.seconds.sampling + waited };
    // Recorded with the first step only: a resumed run writes the same.
    const { metrics, outcomes } = this.#sampled;
    const paid = step === 1 ? { sampled_tokens: Number(this.#sampledTokens), ...metrics } : {};
    return {
      ...{ ...batch, seconds },
      metrics: { ...batch.metrics, ...this.#kept.metrics, ...paid },
      ...(step === 1 && { outcomes }),
    };
  }

  async #prepare() {
    const { outdir, encoder, heldOut, played } = this.#context;
    const file = path.join(outdir, KEPT);
    if (!fileExists(file) || this.#sampledTokens === null) {
      const found = await this.#sample();
      this.#sampledTokens = found.tokens;
      await writeWhole(file, found.kept);
      if (found.kept === "") throw nothingKept(this.#context, found.seen);
    }
    const lines = (await readText(file)).split("\n").filter((line) => line !== "");
    if (lines.length === 0) throw nothingKept(this.#context, []);
    const ids = new Set(lines.map((line) => JSON.parse(line).id)).size;
    const prompts = ids / this.#examples.list.length;
    if (played) {
      const { source, rows } = keptEpisodes(this.#context, lines);
      const metrics = { "kept/episodes": lines.length, "kept/rows": rows, "kept/prompts": prompts };
      return { source, metrics };
    }
    const texts = await Texts.read(file, toText, encoder, heldOut);
    return {
      source: textSource(this.#context, this.#parts.engine, texts, "kept samples"),
      metrics: { "kept/texts": lines.length, "kept/prompts": prompts },
    };
  }

  /** What is kept of all examples, as JSONL, and how many tokens all of them took. */
  async #sample(): Promise<{ kept: string; tokens: number; seen: Seen[] }> {
    const { settings, onProgress, played } = this.#context;
    const { list } = this.#examples;
    const { samples } = settings.algorithm as Settings;
    const { temperature, top_k, top_p, max_tokens } = settings.rollouts;
    const lines: string[] = [];
    const seen: Seen[] = [];
    const all: PlayedOut[] = [];
    let tokens = 0;
    for (let at = 0; at < list.length; at += BLOCK) {
      const block = list.slice(at, at + BLOCK);
      const requests = block.flatMap((task) =>
        Array.from({ length: samples }, (_, n) => ({
          task,
          address: [settings.seed, "rejection sampling", task.id, n],
        })),
      );
      const { engine, environment } = this.#parts;
      const { episodes } = await play(engine, environment, requests, {
        ...{ temperature, top_k, top_p, max_tokens, stop: [], seed: settings.seed },
      });
      for (const { generations, end } of episodes) {
        seen.push({ code: end.code, cut: generations.some(({ finish }) => finish === "length") });
        for (const { completion_tokens } of generations) tokens += completion_tokens;
      }
      for (const [i] of block.entries()) {
        lines.push(...this.#keptOf(episodes.slice(i * samples, (i + 1) * samples)));
      }
      if (played) all.push(...episodes.map(withoutTokens));
      onProgress?.(at + block.length, list.length, "Sampling");
    }
    if (played) {
      const outcomes = countOf(seen.map(({ code }) => code));
      this.#sampled = { metrics: episodeMetrics(all), outcomes };
    }
    return { kept: lines.map((line) => `${line}\n`).join(""), tokens, seen };
  }

  /** What is kept of one prompt's episodes: different completions with enough reward. */
  #keptOf(episodes: readonly Episode[]): string[] {
    const { settings, encoder, played } = this.#context;
    const choice = settings.algorithm as Settings;
    if (played) return episodeLines(episodes, choice);
    const passing = worthKeeping(episodes, choice).filter(({ generations }) =>
      generations.every((one) => fits(one, encoder)),
    );
    const completions = new Set(passing.map(({ generations }) => generations[0]?.completion));
    const { id = "", prompt = "" } = episodes[0]?.task ?? {};
    return [...completions]
      .slice(0, choice.keep)
      .map((completion) => canonicalJson({ id, prompt, completion }));
  }
}

function withoutTokens({ reward, metrics, end, generations }: Episode): PlayedOut {
  return { reward, metrics, end, generations: { length: generations.length } };
}

/** Its end is learned as well: a completion that was cut off has no end token of its own. */
function fits({ finish, prompt_tokens, completion_tokens }: Generation, encoder: Encoder): boolean {
  const end = finish === "stop" ? 0 : 1;
  return prompt_tokens + completion_tokens + end <= encoder.maxLength;
}

/** What is known of a sample that was not kept. */
interface Seen {
  readonly code: string;
  readonly cut: boolean;
}

function nothingKept({ dataset, settings }: DataContext, seen: readonly Seen[]): Error {
  const { samples, threshold } = settings.algorithm as Settings;
  const { max_tokens: maxTokens } = settings.rollouts;
  const cut = seen.filter((one) => one.cut).length / Math.max(1, seen.length);
  const record = {
    step: 0,
    "length/truncated": cut,
    outcomes: countOf(seen.map(({ code }) => code)),
  };
  const why = whyUnrewarded(record, { maxTokens, setting: "rollouts.max_tokens" });
  const lacking =
    threshold === null
      ? "was better than the others of its prompt"
      : `had a reward of ${threshold} or more`;
  return dataError(
    `none of the ${samples} samples of each prompt of ${dataset} ${lacking}.${why}`,
    "Sample more, lower the threshold, or start with a policy that passes sometimes.",
  );
}
