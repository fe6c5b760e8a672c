/** The policy on the validation set: the same samples' luck every time, so that only the policy differs. */

import type { GuardedScorer } from "../core/score.ts";
import { passes } from "../core/score.ts";
import type { LivePolicy } from "./live-policy.ts";
import { mean } from "./parts/advantages.ts";
import type { EvaluationRecord, SampleRecord } from "./records.ts";
import type { TrainSettings } from "./settings.ts";
import type { Examples } from "./sources/examples.ts";
import { countOf, scoresOf } from "./sources/scored.ts";

/** How many of the examples' completions are kept to be read. */
const READ = 8;

export interface Evaluation {
  readonly record: EvaluationRecord;
  readonly samples: readonly SampleRecord[];
}

export interface Judges {
  /** Tells the truth. */
  readonly validation: GuardedScorer;
  readonly rewards: readonly GuardedScorer[];
}

export async function evaluate(
  policy: LivePolicy,
  { list }: Examples,
  { validation, rewards }: Judges,
  { seed, evaluate: { temperature, max_tokens }, weights }: TrainSettings,
  step: number,
): Promise<Evaluation> {
  const wanted = list.map((example) => ({
    prompt: policy.promptTokens(example.prompt),
    address: [seed, "evaluate", example.id],
  }));
  const sampling = { temperature, top_k: 0, top_p: 1, max_tokens, stop: [], seed };
  const said = await policy.sample(wanted, sampling);
  const asked = said.map(({ completion }, i) => ({
    example: list[i] as (typeof list)[number],
    completion,
  }));
  const { rewards: truth, codes } = await scoresOf(asked, [validation], null);
  const same = rewards.length === 1 && rewards[0] === validation;
  const proxy = same ? truth : (await scoresOf(asked, rewards, weights)).rewards;
  const seen = await policy.compare(
    said.map(({ tokens }, i) => {
      const prompt = wanted[i]?.prompt ?? [];
      return { tokens: [...prompt, ...tokens], prompt: prompt.length };
    }),
  );
  const counts = Object.values(countOf(said.map(({ completion }) => completion)));
  return {
    record: {
      step,
      examples: list.length,
      pass_rate: truth.filter(passes).length / list.length,
      reward_mean: mean(truth),
      proxy_mean: mean(proxy),
      kl_exact: mean(seen.flatMap(({ kl }) => [...kl])),
      entropy: mean(seen.flatMap(({ entropies }) => [...entropies])),
      length_mean: mean(said.map(({ completion_tokens }) => completion_tokens)),
      truncated: mean(said.map(({ finish }) => Number(finish === "length"))),
      repeated: Math.max(...counts) / list.length,
      outcomes: countOf(codes),
      rewards: truth,
    },
    samples: said.slice(0, READ).map(({ completion }, i) => ({
      step,
      id: list[i]?.id ?? "",
      prompt: list[i]?.prompt ?? "",
      completion,
      reward: truth[i] ?? null,
      code: codes[i] ?? "",
    })),
  };
}
