/** What a training run refuses before it begins. */

import type { PlayableEnvironment } from "../core/environment.ts";
import { dataError, usageError } from "../core/errors.ts";
import type { SeenPrompts } from "../core/policy.ts";
import { type GuardedScorer, INVALID_EXAMPLE } from "../core/score.ts";
import type { EngineIdentity } from "../engine/engine.ts";
import type { Algorithm } from "./algorithm.ts";
import { learnedFrom } from "./describe-run.ts";
import { givesRewards, ownEnvironment, playableOf } from "./environment-of.ts";
import type { TrainOptions } from "./options.ts";
import type { TrainSettings } from "./settings.ts";
import type { Examples } from "./sources/examples.ts";
import { isSampled } from "./sources/index.ts";
import { FEWEST_EXAMPLES } from "./stop-margin.ts";

/** A method needs data of its kind, and an environment a method that plays in it. */
export function requireData(options: TrainOptions, { name, needs }: Algorithm): void {
  const playable = playableOf(options);
  if (ownEnvironment(options) && !isSampled(needs)) {
    throw usageError(
      `${name} learns from a file and plays in no environment`,
      "Leave out --env, or use a method that samples: grpo, ppo, rloo, reinforce or rft.",
    );
  }
  if (playable && !givesRewards(playable) && !options.judge) {
    throw usageError(
      `the environment ${playable.environment.identity.name} gives no rewards of its own, so that nothing can be learned from it`,
      "Give --judge, which compares episodes, or choose an environment with rewards: `lockedroom env show NAME` tells them.",
    );
  }
  if (options.dataset === undefined && !playable) {
    throw usageError(
      `${name} has no training data`,
      isSampled(needs) ? "Give --dataset FILE, or --env NAME." : "Give --dataset FILE.",
    );
  }
}

/** An environment without tasks to learn from. */
export function noTasks({ environment }: PlayableEnvironment): Error {
  return dataError(
    `the environment ${environment.identity.name} has no train tasks`,
    "Give tasks with --dataset FILE.",
  );
}

/** Settings about scorers need these scorers, and the other way round. */
export function requireScorers(
  options: TrainOptions,
  settings: TrainSettings,
  { name, needs }: Algorithm,
): void {
  const { cost, rewards = [], validation } = options;
  const own = ownEnvironment(options);
  if (own && [...rewards, validation, cost].some((scorer) => scorer !== undefined)) {
    throw usageError(
      `the environment ${own.identity.name} gives rewards of its own, and a scorer was given too`,
      "Leave out --scorer, --validation-scorer and --cost-scorer, or --env.",
    );
  }
  if (isSampled(needs) && rewards.length === 0 && !own && !options.judge) {
    throw usageError(
      `${name} learns from rewards, and no scorer is given`,
      "Give --scorer NAME, or --judge.",
    );
  }
  if ((settings.cost === null) !== (cost === undefined)) {
    throw usageError(
      settings.cost === null
        ? "a cost scorer is named, but the setting cost has no limit"
        : "the setting cost has a limit, but no cost scorer is named",
      "Give both: --cost-scorer FILE --set cost.limit=0.1.",
    );
  }
  if (settings.weights !== null && settings.weights.length !== rewards.length) {
    throw usageError(
      `there are ${settings.weights.length} weights for ${rewards.length} scorers`,
      "Give a weight for each scorer, in the same order.",
    );
  }
}

/** Conditions on validation need validations. */
export function requireValidation(
  options: Pick<TrainOptions, "dev" | "environment">,
  { stop, evaluate }: TrainSettings,
): void {
  const name = stop.target === null ? "margin" : "target";
  const dev = options.dev !== undefined || (playableOf(options) && evaluate.tasks > 0);
  if ((stop.target === null && stop.margin === null) || (dev && evaluate.every > 0)) return;
  throw usageError(
    `stop.${name} is a condition on the validation reward, and nothing is validated`,
    dev ? "Leave out --eval-every 0." : "Give --dev FILE with validation examples.",
  );
}

/** A margin is shown with confidence, or the condition is never met. */
export function requireExamples(dev: Examples | undefined, { stop }: TrainSettings): void {
  if (stop.margin === null || !dev || dev.list.length >= FEWEST_EXAMPLES) return;
  throw usageError(
    `stop.margin needs ${FEWEST_EXAMPLES} validation examples or more, and ${dev.name} has ${dev.list.length}`,
    "Give --dev FILE with more examples, or use stop.target.",
  );
}

/**
 * Refuses examples that a built-in scorer cannot read, before anything is sampled. Other scorers are
 * not asked: a call may cost time or money, and they say the same with the first batch.
 */
export async function refuseUnreadable(
  scorers: readonly (GuardedScorer | undefined)[],
  sets: readonly (Examples | undefined)[],
): Promise<void> {
  for (const scorer of scorers) {
    if (!scorer?.builtIn) continue;
    for (const set of sets) {
      if (set) await refuseUnreadableBy(scorer, set);
    }
  }
}

async function refuseUnreadableBy(scorer: GuardedScorer, set: Examples): Promise<void> {
  const requests = set.list.map((example) => ({ example, completion: "" }));
  const scores = await scorer.scoreBatch(requests);
  const bad = scores.flatMap(({ code }, i) => (code === INVALID_EXAMPLE ? [i] : []));
  const [first] = bad;
  if (first === undefined) return;
  const { name } = scorer.identity;
  const why = messageIn(scores[first]?.details);
  throw dataError(
    `${set.places[first]}: the scorer ${name} cannot read "${set.list[first]?.id}"${why && `: ${why}`} (${bad.length} of ${set.list.length} examples)`,
    `Nothing was trained. Give --scorer FILE with a scorer for this data; ${name} is used where no other is given. Or correct these examples.`,
  );
}

function messageIn(details: unknown): string {
  const { message } = (details ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? message : "";
}

const NOT_TRAINED_ON = "Use held-out examples that it was not trained on.";

/** Held-out data must not be what the initial policy learned from. */
export function refuseLearnedFrom(
  start: EngineIdentity,
  sets: readonly (Examples | undefined)[],
): void {
  const known = learnedFrom(start);
  const found = sets.find((set) => set && known.includes(set.input.sha256));
  if (!found) return;
  throw dataError(`the initial policy learned from ${found.name}`, NOT_TRAINED_ON);
}

/** The same by prompts, whatever file they were in, and whichever policy of the line learned them. */
export function refuseLearnedPrompts(
  { learned }: SeenPrompts,
  sets: readonly (Examples | undefined)[],
): void {
  for (const set of sets) {
    const found = set?.list.flatMap(({ prompt }, i) => (learned.has(prompt) ? [i] : [])) ?? [];
    const [first] = found;
    if (!set || first === undefined) continue;
    throw dataError(
      `${set.name}: the policy, or one that it began with, learns from ${found.length} of its ${set.list.length} prompts, the first being that of "${set.list[first]?.id}" (${set.places[first]})`,
      NOT_TRAINED_ON,
    );
  }
}
