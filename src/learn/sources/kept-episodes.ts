/** Episodes that are worth learning from, as lines of kept.jsonl, and batches of their rows. */

import { z } from "zod";
import { dataError } from "../../core/errors.ts";
import { canonicalJson, type Json } from "../../core/json.ts";
import { actionCount, type TokenRow } from "../../core/token-row.ts";
import { KEPT } from "../../runs/artifacts.ts";
import { type Episode, requireReward } from "../play.ts";
import type { Batch, DataContext, Source } from "../source.ts";
import { SeededOrder } from "./order.ts";
import { itemsOf } from "./texts.ts";

export interface Choice {
  /** The least reward; null: better than the mean of the same task's samples. */
  readonly threshold: number | null;
  /** The most that are kept of a task. */
  readonly keep: number;
}

/** The episodes of one task with enough reward, the best first. */
export function worthKeeping(
  episodes: readonly Episode[],
  { threshold }: Pick<Choice, "threshold">,
): Episode[] {
  const rewards = episodes.map(requireReward);
  const centre = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const isEnough = (reward: number) => (threshold === null ? reward > centre : reward >= threshold);
  return episodes
    .map((episode, i) => ({ episode, reward: rewards[i] as number }))
    .filter(({ reward }) => isEnough(reward))
    .sort((a, b) => b.reward - a.reward)
    .map(({ episode }) => episode);
}

/** A line of kept.jsonl. The tokens are those that were sampled: texts are never tokenised again. */
const keptEpisode = z.object({
  id: z.string(),
  reward: z.number(),
  code: z.string(),
  completions: z.array(z.string()),
  segments: z.array(
    z.object({ tokens: z.array(z.int()), actions: z.array(z.tuple([z.int(), z.int()])) }),
  ),
});

/** What is kept of one task's episodes: different ones. */
export function episodeLines(episodes: readonly Episode[], choice: Choice): string[] {
  const lines = worthKeeping(episodes, choice).map(({ task, reward, end, generations, rows }) =>
    canonicalJson({
      ...{ id: task.id, reward, code: end.code },
      completions: generations.map(({ completion }) => completion),
      segments: rows,
    } as unknown as Json),
  );
  return [...new Set(lines)].slice(0, choice.keep);
}

/** Batches of the rows of kept episodes, all turns of each; only the policy's own tokens are learned. */
export function keptEpisodes(
  { settings, outdir }: Pick<DataContext, "settings" | "outdir">,
  lines: readonly string[],
): { readonly source: Source; readonly rows: number } {
  const rows = lines.flatMap((line, i) => rowsOf(line, `${outdir}/${KEPT}:${i + 1}`));
  const order = new SeededOrder(rows.length, settings.seed, "kept episodes");
  const source: Source = {
    state: () => null,
    async batch(step): Promise<Batch> {
      const items = itemsOf(step, settings.batch, order);
      return {
        rows: items.map((item) => ({ ...(rows[item] as TokenRow), columns: {} })),
        ...{ metrics: {}, klCoefficient: settings.kl.coefficient },
        seconds: { sampling: 0, scoring: 0, logprobs: 0 },
      };
    },
  };
  return { source, rows: rows.length };
}

function rowsOf(line: string, place: string): readonly TokenRow[] {
  const read = keptEpisode.safeParse(JSON.parse(line));
  if (read.success) return read.data.segments.filter((row) => actionCount(row) > 0);
  throw dataError(`${place}: not a kept episode`, "Start the run again with --force.");
}
