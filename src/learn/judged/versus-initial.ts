/**
 * The policy against the initial one on the validation tasks. A judge's scores are relative within a
 * group, so both episodes of a task are in one group, and which comes first is decided by the seed:
 * a judge that prefers the first place then favours neither side.
 */

import { dataError } from "../../core/errors.ts";
import { canonicalJson } from "../../core/json.ts";
import { type GroupJudge, isDropped } from "../../core/judge.ts";
import { rngAt } from "../../core/rng.ts";
import type { BaselineRecord, EvaluationRecord, SampleRecord } from "../../runs/train-records.ts";
import { mean } from "../parts/advantages.ts";
import type { Episode } from "../play.ts";
import { conversationOf } from "../sample.ts";
import { type JudgeOffer, verdictsOf } from "./ask.ts";
import { noCounts, withVerdict } from "./counts.ts";

/** What a judge said of one task. */
type Compared = NonNullable<SampleRecord["judge"]>;

export interface Versus {
  readonly judge: NonNullable<EvaluationRecord["judge"]>;
  readonly labels: EvaluationRecord["labels"];
  /** Of each task; undefined where it was not judged. */
  readonly compared: readonly (Compared | undefined)[];
  /** Of each task, by the judge: 1 for a win, 0.5 for a tie, 0 for a loss; null where it was not judged. */
  readonly outcomes: readonly (number | null)[];
}

interface Settings extends JudgeOffer {
  readonly judge: GroupJudge;
  readonly seed: number;
  /** Only the first so many tasks are judged; undefined: all. */
  readonly most: number | undefined;
}

export class VersusInitial {
  readonly #settings: Settings;
  #initial: readonly BaselineRecord[] = [];

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** What the initial policy did; set when a run is resumed. */
  get initial(): readonly BaselineRecord[] {
    return this.#initial;
  }

  set initial(episodes: readonly BaselineRecord[]) {
    this.#initial = episodes;
  }

  /** `labels` are the rewards of the episodes, where there are any. The first episodes are the initial ones. */
  async compare(
    episodes: readonly Episode[],
    labels: readonly number[] | undefined,
  ): Promise<Versus> {
    if (this.#initial.length === 0)
      this.#initial = episodes.map((episode, i) => baselineOf(episode, labels?.[i] ?? null));
    const { judge, tools, most = episodes.length } = this.#settings;
    const judged = episodes.slice(0, most);
    const pairs = judged.map((episode) => this.#pair(episode));
    const verdicts = await verdictsOf(
      judge,
      pairs.map(({ id, attempts }) => ({ id, attempts, tools })),
    );
    const { example, ...counts } = verdicts.reduce(withVerdict, noCounts());
    const compared = episodes.map((_, i): Compared | undefined => {
      const [verdict, pair] = [verdicts[i], pairs[i]];
      if (!verdict || !pair || isDropped(verdict)) return undefined;
      const { own, other } = pair;
      const { score = 0, explanation = "" } = verdict.judgements[own] ?? {};
      return { score, baseline: verdict.judgements[other]?.score ?? 0, explanation };
    });
    const known = compared.filter((one) => one !== undefined);
    if (known.length === 0) {
      throw dataError(
        `the judge gave no verdict on any of the ${counts.groups} validation tasks, such as ${example}`,
        "Check the judge's endpoint and its limits, then go on with --resume.",
      );
    }
    const outcomes = compared.map((one) => (one ? result(one.score, one.baseline) : null));
    return {
      judge: {
        win_rate: mean(outcomes.filter((one) => one !== null)),
        score_mean: mean(known.map(({ score }) => score)),
        baseline_mean: mean(known.map(({ baseline }) => baseline)),
        ...{ groups: counts.groups, dropped: counts.dropped },
        prompt_tokens: counts.prompt_tokens,
        completion_tokens: counts.completion_tokens,
      },
      labels: this.#byLabels(labels ?? []),
      ...{ compared, outcomes },
    };
  }

  /** Both episodes of a task, in the order that the seed gives. */
  #pair(episode: Episode) {
    const { id } = episode.task;
    const initial = this.#initial.find((one) => one.id === id);
    if (!initial) {
      throw dataError(
        `baseline.jsonl has no episode of the initial policy for ${id}`,
        "Start the run over with --force.",
      );
    }
    const pair = [conversationOf(episode), initial.messages];
    // The same conversation twice, as before the first step, has one score.
    if (new Set(pair.map((one) => canonicalJson(one))).size === 1)
      return { id, own: 0, other: 0, attempts: pair.slice(0, 1) };
    const own = rngAt(this.#settings.seed, "versus initial", id).below(2);
    return { id, own, other: 1 - own, attempts: own === 0 ? pair : pair.reverse() };
  }

  #byLabels(rewards: readonly number[]): EvaluationRecord["labels"] {
    const results = rewards.flatMap((reward, i) => {
      const initial = this.#initial[i]?.reward ?? null;
      return initial === null ? [] : [result(reward, initial)];
    });
    return results.length === 0 ? undefined : { win_rate: mean(results) };
  }
}

function baselineOf(episode: Episode, reward: number | null): BaselineRecord {
  return { id: episode.task.id, messages: [...conversationOf(episode)], reward };
}

function result(own: number, other: number): number {
  return own === other ? 0.5 : Number(own > other);
}
