/** What is recorded of episodes in an environment: their turns, how they were cut short, its own figures. */

import { CONTEXT_FULL } from "../../core/environment.ts";
import { OUT_OF_TURNS } from "../../environments/definition.ts";
import { mean } from "../parts/advantages.ts";
import type { Episode } from "../play.ts";

/** What figures are made of; the tokens of all episodes together may be many. */
export interface PlayedOut extends Pick<Episode, "reward" | "metrics" | "end"> {
  readonly generations: { readonly length: number };
}

/**
 * By name: `turns` of an episode, `reward_per_turn`, the shares that were cut short, and the mean of
 * each metric that the environment counts, such as `tool_errors`.
 */
export function episodeFigures(episodes: readonly PlayedOut[]): Record<string, number> {
  const turns = episodes.map(({ generations }) => generations.length);
  const total = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0);
  const share = (is: (episode: PlayedOut) => boolean) =>
    mean(episodes.map((one) => Number(is(one))));
  return {
    ...ownMetrics(episodes),
    turns: mean(turns),
    turns_max: Math.max(...turns),
    reward_per_turn: total(episodes.map(({ reward }) => reward ?? 0)) / Math.max(1, total(turns)),
    truncated: share(({ end }) => !end.terminated),
    [OUT_OF_TURNS]: share(({ end }) => end.code === OUT_OF_TURNS),
    [CONTEXT_FULL]: share(({ end }) => end.code === CONTEXT_FULL),
  };
}

/** Means over all episodes: one that does not count a metric has 0 of it. */
function ownMetrics(episodes: readonly PlayedOut[]): Record<string, number> {
  const names = new Set(episodes.flatMap(({ metrics }) => Object.keys(metrics)));
  return Object.fromEntries(
    [...names]
      .sort()
      .map((name) => [name, mean(episodes.map(({ metrics }) => metrics[name] ?? 0))]),
  );
}

/** The same as metrics of a step; a name with a slash, such as `reward/style`, stays as it is. */
export function episodeMetrics(episodes: readonly PlayedOut[]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(episodeFigures(episodes)).map(([name, value]) => [
      name.includes("/") ? name : `episode/${name}`,
      value,
    ]),
  );
}
