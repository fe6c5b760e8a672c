/** Rows that the policy itself writes: episodes played, rewarded, compared with the reference, given advantages. */

import { z } from "zod";
import type { Example } from "../../core/records.ts";
import { klEstimate } from "../../engine/loss-graph.ts";
import type { Advantages, Algorithm } from "../algorithm.ts";
import { addedUp, type JudgeCounts, judgeMetrics } from "../judged/counts.ts";
import { type Group, noGroups, ownRewards } from "../judged/group-rewards.ts";
import { allEqual } from "../parts/advantages.ts";
import { type Credited, credited, type EpisodeOfTurns, tokenScores } from "../parts/credit.ts";
import { nextCoefficient, nextPrice, startCoefficient } from "../parts/penalties.ts";
import { type Episode, play } from "../play.ts";
import { sampleOf } from "../sample.ts";
import type { Batch, DataContext, Source, SourceParts, TrainingData } from "../source.ts";
import { episodeMetrics } from "./episode-metrics.ts";
import { joinedByEpisode, rowsWithColumns } from "./episode-rows.ts";
import { type Examples, examplesIn, longestRow, promptsOf } from "./examples.ts";
import { SeededOrder } from "./order.ts";
import { referenceColumn, referenceGroups } from "./reference-share.ts";
import {
  costOf,
  countOf,
  independentReward,
  klOf,
  lengthMetrics,
  logprobsOf,
  partMetrics,
  rewardMetrics,
} from "./rollout-metrics.ts";

export async function readRollouts(context: DataContext): Promise<TrainingData> {
  const examples = await examplesIn(context);
  context.heldOut.refuse(examples);
  const { max_tokens } = context.settings.rollouts;
  return {
    inputs: [examples.input],
    examples,
    prompts: promptsOf(examples),
    longest: longestRow(examples, context, max_tokens),
    maxTokens: max_tokens,
    open: (parts) => new Rollouts(context, examples, parts),
  };
}

/** What a batch cost so far. */
interface Effort {
  sampling: number;
  scoring: number;
  /** Generation, groups that were replaced included. */
  tokens: number;
  /** What a judge was asked, where one rewards. */
  judged: JudgeCounts | undefined;
}

/** What the next batch depends on besides the weights. */
interface State {
  readonly kl_coefficient: number;
  /** Of a unit of cost. */
  readonly price: number;
  /** The algorithm's own. */
  readonly memory: unknown;
}

function stateSchema({ memory }: Algorithm): z.ZodType<State> {
  return z.object({
    kl_coefficient: z.number(),
    price: z.number(),
    memory: memory?.schema ?? z.null(),
  });
}

class Rollouts implements Source {
  readonly #context: DataContext;
  readonly #examples: Examples;
  readonly #parts: SourceParts;
  readonly #order: SeededOrder;
  #state: State;

  constructor(context: DataContext, examples: Examples, parts: SourceParts) {
    const { algorithm, settings } = context;
    this.#context = context;
    this.#examples = examples;
    this.#parts = parts;
    this.#order = new SeededOrder(examples.list.length, settings.seed, "examples");
    this.#state =
      parts.saved === undefined
        ? {
            kl_coefficient: startCoefficient(settings.kl),
            price: settings.cost?.start ?? 0,
            memory: algorithm.memory?.initial ?? null,
          }
        : stateSchema(algorithm).parse(parts.saved);
  }

  state(): State {
    return this.#state;
  }

  async batch(step: number): Promise<Batch> {
    const effort: Effort = { sampling: 0, scoring: 0, tokens: 0, judged: undefined };
    const groups = await this.#groups(step, effort);
    if (groups.length === 0 && effort.judged) throw noGroups(step, effort.judged);
    const started = performance.now();
    const { columns, metrics, next } = await this.#advantages(groups);
    const logprobs = (performance.now() - started) / 1000;
    const { kl_coefficient: klCoefficient } = this.#state;
    this.#state = next;
    const rows = groups.flatMap(({ episodes }, g) =>
      episodes.flatMap((episode, i) => rowsWithColumns(episode, columns[g]?.[i] ?? {})),
    );
    const { tokens: sampled_tokens, sampling, scoring, judged } = effort;
    return {
      rows,
      klCoefficient,
      metrics: { ...metrics, sampled_tokens, ...(judged && judgeMetrics(judged)) },
      outcomes: countOf(groups.flatMap(({ episodes }) => episodes.map(({ end }) => end.code))),
      seconds: { sampling, scoring, logprobs },
      samples: groups
        .slice(0, KEPT_SAMPLES)
        .flatMap(({ episodes: [first] }) =>
          first ? [sampleOf(first, this.#context.played ?? false)] : [],
        ),
    };
  }

  /**
   * As many groups as an update takes; those with equal rewards are replaced where that is set. Fewer
   * where a judge gave no verdict on some.
   */
  async #groups(step: number, effort: Effort): Promise<Group[]> {
    const { prompts, dynamic } = this.#context.settings.rollouts;
    const kept: Group[] = [];
    let spare: Group[] = [];
    const drawn = new Map<string, number>();
    for (let round = 0; round <= dynamic && kept.length < prompts; round++) {
      const first = ((step - 1) * (dynamic + 1) + round) * prompts;
      const tasks = Array.from(
        { length: prompts },
        (_, i) => this.#examples.list[this.#order.at(first + i)] as Example,
      );
      const found = await this.#play(step, tasks, drawn, effort);
      const teaches = ({ rewards }: Group) => dynamic === 0 || !allEqual(rewards);
      kept.push(...found.filter(teaches));
      spare = [...spare, ...found.filter((group) => !teaches(group))];
    }
    return [...kept, ...spare].slice(0, prompts);
  }

  async #play(
    step: number,
    tasks: readonly Example[],
    /** Samples so far of each task in this step: one that comes again is sampled anew. */
    drawn: Map<string, number>,
    effort: Effort,
  ): Promise<Group[]> {
    const { settings } = this.#context;
    const { group, temperature, top_k, top_p, max_tokens } = settings.rollouts;
    const requests = tasks.flatMap((task) => {
      const before = drawn.get(task.id) ?? 0;
      drawn.set(task.id, before + group);
      return Array.from({ length: group }, (_, sample) => ({
        task,
        address: [settings.seed, step, task.id, before + sample],
      }));
    });
    const { engine, environment, rewards = ownRewards } = this.#parts;
    const { episodes, seconds } = await play(engine, environment, requests, {
      ...{ temperature, top_k, top_p, max_tokens, stop: [], seed: settings.seed },
    });
    for (const { generations } of episodes) {
      for (const { completion_tokens } of generations) effort.tokens += completion_tokens;
    }
    effort.sampling += seconds.sampling;
    effort.scoring += seconds.scoring;
    const started = performance.now();
    const { groups, judged } = await rewards(
      tasks.map((_, g) => episodes.slice(g * group, (g + 1) * group)),
    );
    effort.scoring += (performance.now() - started) / 1000;
    if (judged) effort.judged = effort.judged ? addedUp(effort.judged, judged) : judged;
    return [...groups];
  }

  async #advantages(groups: readonly Group[]) {
    const { algorithm, settings } = this.#context;
    const { engine } = this.#parts;
    const episodes = groups.flatMap((group) => group.episodes);
    const rows = episodes.flatMap((episode) => episode.rows);
    const reference = await this.#reference(groups);
    const values = algorithm.valueHead
      ? joinedByEpisode(
          episodes,
          (await engine.tokenStats(rows, "policy")).map((one) => one.values ?? []),
        )
      : undefined;
    const { kl_coefficient: coefficient, price, memory } = this.#state;
    let next = 0;
    const scored = groups.map(({ episodes: own, rewards }) =>
      own.map((episode, i) => {
        const at = next++;
        const paid = price * (episode.metrics.cost ?? 0);
        return this.#scored(episode, rewards[i] as number, paid, reference[at], values?.[at]);
      }),
    );
    const { groups: compared, toEpisodes } = this.#credited(scored);
    const { columns, metrics, ...found } = algorithm.advantages?.(
      compared,
      settings.algorithm,
      memory,
    ) ?? { columns: [], metrics: {} };
    const kl = klOf(episodes, reference);
    const cost = settings.cost && costOf(episodes, settings.cost, price);
    return {
      columns: this.#withReference(toEpisodes(columns), reference),
      metrics: {
        ...rewardMetrics(groups.map(({ rewards }) => rewards)),
        ...independentReward(groups.flatMap(({ independent = [] }) => independent)),
        ...(this.#context.played ? episodeMetrics(episodes) : partMetrics(episodes)),
        ...cost?.metrics,
        ...kl.metrics,
        ...lengthMetrics(episodes, settings.rollouts.max_tokens),
        ...metrics,
        "kl/coefficient": coefficient,
      },
      next: {
        kl_coefficient: nextCoefficient(
          settings.kl,
          coefficient,
          kl.perEpisode[settings.kl.estimator],
          episodes.length,
        ),
        price: settings.cost && cost ? nextPrice(settings.cost, price, cost.mean) : price,
        memory: "memory" in found ? found.memory : memory,
      },
    };
  }

  /** Log-probs by the reference of each episode, in order; undefined in groups that go without. */
  async #reference(groups: readonly Group[]): Promise<(Float32Array | undefined)[]> {
    const { algorithm, settings } = this.#context;
    const taken = referenceGroups(groups.length, algorithm, settings);
    const compared = groups.flatMap(({ episodes }, g) => (taken.has(g) ? episodes : []));
    const rows = compared.flatMap((episode) => episode.rows);
    const stats = await this.#parts.engine.tokenStats(rows, "reference");
    const found = joinedByEpisode(
      compared,
      stats.map(({ logprobs }) => logprobs),
    ).values();
    return groups.flatMap(({ episodes }, g) =>
      episodes.map(() => (taken.has(g) ? found.next().value : undefined)),
    );
  }

  /** Rows with the column `reference` where the loss reads it. */
  #withReference(
    columns: Advantages["columns"],
    reference: readonly (Float32Array | undefined)[],
  ): Advantages["columns"] {
    if (!referenceColumn(this.#context.algorithm, this.#context.settings)) return columns;
    const ofRow = reference.values();
    return columns.map((group) =>
      group.map((own) => {
        const logprobs = ofRow.next().value;
        return logprobs ? { ...own, reference: logprobs } : own;
      }),
    );
  }

  /** A value head needs no comparison: it has whole episodes, with rewards where they are given. */
  #credited(scored: readonly (readonly EpisodeOfTurns[])[]): Credited {
    const { algorithm, settings } = this.#context;
    const { credit, discount } = settings.rollouts;
    if (!algorithm.valueHead) return credited(scored, credit, discount);
    const groups = scored.map((group) =>
      group.map((episode) => ({ ...episode, tokenScores: tokenScores(episode, credit) })),
    );
    return { groups, toEpisodes: (columns) => columns };
  }

  #scored(
    episode: Episode,
    given: number,
    /** The price of its cost. */
    paid: number,
    reference: ArrayLike<number> | undefined,
    values: Float32Array | undefined,
  ): EpisodeOfTurns {
    const { place, estimator } = this.#context.settings.kl;
    const coefficient = place === "reward" ? this.#state.kl_coefficient : 0;
    const old = logprobsOf(episode);
    const score = given - paid;
    // A penalty has the reference on all rows; a missing number must not pass for a log-prob of 0.
    const penalties = old.map((logprob, t) =>
      coefficient > 0
        ? coefficient * klEstimate(estimator, logprob, reference?.[t] ?? Number.NaN)
        : 0,
    );
    const reward = score - penalties.reduce((sum, x) => sum + x, 0);
    return {
      ...{ score, reward, penalties, old, values },
      turnLengths: episode.generations.map(({ tokens }) => tokens.length),
      turnRewards: turnRewardsOf(episode, paid),
      segments: episode.rows.map(({ actions }) => actions.length),
    };
  }
}

const KEPT_SAMPLES = 8;

/** Known by now: an episode without a reward has stopped the run. The price is paid with the last. */
function turnRewardsOf({ turnRewards }: Episode, paid: number): number[] {
  const last = turnRewards.length - 1;
  return turnRewards.map((reward, turn) => (reward as number) - (turn === last ? paid : 0));
}
