/** Packs of samples with their scores. A pack often repeats a text; each text is scored once. */

import type { Example, Sample, SelectionPack } from "../core/records.ts";
import type { CheckedScore, GuardedScorer, ScoreRequest } from "../core/score.ts";
import type { RowEpisode } from "../runs/schemas.ts";
import type { ScoredSample } from "./decide.ts";
import type { Joined } from "./join.ts";

/** Few, because each brings many samples and all of them are alive while they are scored. */
export const PACKS_AT_ONCE = 16;

/** `P` is what the answers to an example come in. */
export interface ScoredPack<P = SelectionPack> {
  readonly example: Example;
  /** Undefined where no pack names the example. */
  readonly pack: P | undefined;
  readonly samples: readonly ScoredSample[];
  /** For each sample the index of the first one with the same text. */
  readonly firstOf: readonly number[];
  /** Of episodes: what was said in each. */
  readonly episodes?: readonly RowEpisode[];
}

export async function scorePacks(
  scorer: GuardedScorer,
  batch: readonly Joined<SelectionPack>[],
): Promise<ScoredPack[]> {
  const requests: ScoreRequest[] = [];
  const starts: number[] = [];
  const repeats = batch.map(({ example, answer }) => {
    starts.push(requests.length);
    const firsts = new Map<string, number>();
    return (answer?.samples ?? []).map((sample, index) => {
      const completion = textOf(sample);
      const first = firsts.get(completion);
      if (first !== undefined) return first;
      firsts.set(completion, index);
      requests.push({ example, completion });
      return index;
    });
  });
  const scores = await scorer.scoreBatch(requests);
  return batch.map(({ example, answer }, i) => {
    const firstOf = repeats[i] as number[];
    let next = starts[i] as number;
    const samples: ScoredSample[] = [];
    for (const [index, sample] of (answer?.samples ?? []).entries()) {
      const first = firstOf[index] as number;
      const score = first === index ? scores[next++] : samples[first];
      samples.push(scoredSample(index, sample, score as CheckedScore));
    }
    return { example, pack: answer, samples, firstOf };
  });
}

function scoredSample(index: number, sample: string | Sample, score: CheckedScore): ScoredSample {
  return {
    index,
    completion: textOf(sample),
    sum_logprob: (typeof sample === "string" ? null : sample.sum_logprob) ?? null,
    sum_ref_logprob: (typeof sample === "string" ? null : sample.sum_ref_logprob) ?? null,
    reward: score.reward,
    code: score.code,
    details: score.details,
  };
}

function textOf(sample: string | Sample): string {
  return typeof sample === "string" ? sample : sample.completion;
}
