/** The policy on held-out examples: sampled with the same random numbers every time, so that only the policy differs. */

import type { Environment } from "../core/environment.ts";
import type { Example } from "../core/records.ts";
import { completionRow, type TokenRow } from "../core/token-row.ts";
import type { Engine } from "../engine/engine.ts";
import type { EvaluationRecord, SampleRecord } from "../runs/train-records.ts";
import type { Algorithm } from "./algorithm.ts";
import type { Versus, VersusInitial } from "./judged/versus-initial.ts";
import { mean } from "./parts/advantages.ts";
import { repetitionOf } from "./parts/repetition.ts";
import { completionOf, type Episode, play, replay, requireReward } from "./play.ts";
import { sampleOf } from "./sample.ts";
import type { TrainSettings } from "./settings.ts";
import { episodeFigures } from "./sources/episode-metrics.ts";
import type { Examples } from "./sources/examples.ts";
import { countOf } from "./sources/rollout-metrics.ts";

/** How many of the examples' completions are kept to be read. */
const KEPT_SAMPLES = 8;
/** Where a judge rewards: the report counts failures among them. */
const KEPT_JUDGED = 32;

export interface Evaluation {
  readonly record: EvaluationRecord;
  readonly samples: readonly SampleRecord[];
}

/** The environments that held-out examples are played in. */
export interface ValidationEnvironments {
  /** With the scorer that is not optimised. */
  readonly validation: Environment;
  /** With the scorers that reward; undefined where they are the same. */
  readonly proxy: Environment | undefined;
  /** Whether it is an environment of its own rather than a scored prompt: there is more to record. */
  readonly played: boolean;
  /** Whether an episode of it counts for the pass rate. */
  solved(episode: Episode): boolean;
  /** Whether it rewards at all; where not, a judge's comparison with the initial policy counts. */
  readonly labelled: boolean;
}

export async function validate(
  engine: Engine,
  { needs }: Pick<Algorithm, "needs">,
  { list }: Examples,
  environments: ValidationEnvironments,
  { seed, evaluate: { temperature, max_tokens } }: TrainSettings,
  step: number,
  versusInitial?: VersusInitial | undefined,
): Promise<Evaluation> {
  const { validation, played } = environments;
  const requests = list.map((task) => ({ task, address: [seed, "evaluate", task.id] }));
  const sampling = { temperature, top_k: 0, top_p: 1, max_tokens, stop: [], seed };
  const { episodes } = await play(engine, validation, requests, sampling);
  const { rewards, scored, passRate, versus } = await rewarded(
    ...([episodes, environments, versusInitial] as const),
  );
  const { proxy } = environments;
  const texts = episodes.map(completionOf);
  const rows = episodes.flatMap((episode) => episode.rows);
  const stats = await engine.tokenStats(rows, "policy", { exactKl: engine.can.exactKl });
  const generations = episodes.flatMap((episode) => episode.generations);
  const codes = episodes.map(({ end }) => end.code);
  return {
    record: {
      step,
      examples: list.length,
      pass_rate: passRate,
      reward_mean: mean(scored),
      proxy_mean:
        versus?.judge.score_mean ?? mean(proxy ? await replay(proxy, requests, episodes) : scored),
      kl_exact: engine.can.exactKl ? mean(stats.flatMap(({ kl }) => [...kl])) : null,
      entropy: mean(stats.flatMap(({ entropies }) => [...entropies])),
      length_mean: mean(generations.map(({ completion_tokens }) => completion_tokens)),
      truncated: mean(generations.map(({ finish }) => Number(finish === "length"))),
      repeated: Math.max(...Object.values(countOf(texts))) / list.length,
      repetition: mean(rows.map(repetitionOf)),
      outcomes: countOf(codes),
      ...(played && { episode: episodeFigures(episodes) }),
      ...(needs === "texts" && (await heldOutLoss(engine, list))),
      rewards,
      ...(versus && { judge: versus.judge, ...(versus.labels && { labels: versus.labels }) }),
    },
    samples: episodes.slice(0, versusInitial ? KEPT_JUDGED : KEPT_SAMPLES).map((episode, i) => ({
      ...{ step, ...sampleOf(episode, played ?? false, rewards[i]) },
      ...(versus?.compared[i] && { judge: versus.compared[i] }),
    })),
  };
}

interface Rewarded {
  /** Of each episode; null where a judge gave no verdict. */
  readonly rewards: readonly (number | null)[];
  readonly scored: readonly number[];
  readonly passRate: number;
  /** What a judge says of it beside the initial policy, where one rewards. */
  readonly versus: Versus | undefined;
}

/** By labels; where there are none, by what a judge prefers to the initial policy's episode. */
async function rewarded(
  episodes: readonly Episode[],
  { labelled, solved }: ValidationEnvironments,
  versusInitial: VersusInitial | undefined,
): Promise<Rewarded> {
  const labels = labelled ? episodes.map(requireReward) : undefined;
  const versus = await versusInitial?.compare(episodes, labels);
  if (labels) {
    const passRate = episodes.filter(solved).length / episodes.length;
    return { rewards: labels, scored: labels, passRate, versus };
  }
  const rewards = versus?.outcomes ?? [];
  const scored = rewards.filter((reward) => reward !== null);
  return { rewards, scored, passRate: mean(scored.map((one) => Number(one === 1))), versus };
}

/** Of examples that all have a completion, such as texts that were held out. */
async function heldOutLoss(
  engine: Engine,
  list: readonly Example[],
): Promise<{ readonly loss?: number }> {
  const rows = list.flatMap(({ prompt, completion }) =>
    typeof completion === "string" ? [textRow(prompt, completion, engine)] : [],
  );
  if (rows.length < list.length) return {};
  const stats = await engine.tokenStats(rows, "policy");
  return { loss: -mean(stats.flatMap(({ logprobs }) => [...logprobs])) };
}

/** What is beyond the context is left out. */
function textRow(prompt: string, completion: string, { encoder }: Engine): TokenRow {
  const before = encoder.promptTokens(prompt);
  const own = [...encoder.encode(completion), encoder.endToken];
  return completionRow(before, own.slice(0, encoder.maxLength - before.length));
}
