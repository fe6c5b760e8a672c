/** The rows of two runs whose episodes a judge compared: a pair of rows for each sample of a task. */

import { ENVIRONMENT_ERROR } from "../core/environment.ts";
import type { Judgement } from "../core/judge.ts";
import { INDEPENDENT_REWARD } from "../core/judged-trajectory.ts";
import { PREFERRED, preference } from "../core/preference.ts";
import type { Example } from "../core/records.ts";
import { type CheckedScore, SCORER_ERROR } from "../core/score.ts";
import type { PlayedEpisode } from "../loops/episodes.ts";
import { missing, resultRow } from "../loops/row.ts";
import type { Side } from "../runs/judge-schemas.ts";
import type { ResultRow } from "../runs/schemas.ts";

/** The episodes of one sample of a task, one of each rollout. */
export type EpisodePair = Readonly<Record<Side, PlayedEpisode | undefined>>;

/** By side. */
export type Judged = Readonly<Record<Side, Judgement>>;

const OTHER: Record<Side, Side> = { baseline: "candidate", candidate: "baseline" };
const NO_OTHER = "the other rollout has no episode to compare with";

/** An episode is judged only beside its counterpart. */
export function isWhole(
  pair: EpisodePair,
): pair is { readonly baseline: PlayedEpisode; readonly candidate: PlayedEpisode } {
  return [pair.baseline, pair.candidate].every(
    (one) => one !== undefined && one.score.code !== ENVIRONMENT_ERROR,
  );
}

/** `why` says why an episode is not there; `verdict` is a sentence where the judge gave none. */
export function pairRow(
  example: Example,
  side: Side,
  { pair, verdict, why }: { pair: EpisodePair; verdict: Judged | string; why: string },
): ResultRow {
  const own = pair[side];
  if (!own) return resultRow(example, undefined, missing(why));
  if (own.score.code === ENVIRONMENT_ERROR) return episodeRow(example, own, own.score);
  if (!isWhole(pair)) return resultRow(example, undefined, missing(NO_OTHER));
  return judgedRow(example, own, scoreOf(side, verdict, own));
}

function scoreOf(side: Side, verdict: Judged | string, own: PlayedEpisode): CheckedScore {
  const { score, passed } = own;
  const environment = { ...{ reward: score.reward, code: score.code, passed } };
  const details = { environment: { ...environment, details: score.details } };
  if (typeof verdict === "string")
    return { reward: null, code: SCORER_ERROR, details: { ...details, message: verdict } };
  const { score: reward, explanation: message } = verdict[side];
  const code = preference(reward, verdict[OTHER[side]].score);
  return { reward, code, details: { ...details, message } };
}

function judgedRow(example: Example, own: PlayedEpisode, score: CheckedScore): ResultRow {
  const { reward } = own.score;
  const metrics = {
    ...own.episode.metrics,
    ...(reward !== null && { [INDEPENDENT_REWARD]: reward }),
  };
  const row = episodeRow(example, own, score);
  return { ...row, passed: score.code === PREFERRED, episode: { ...own.episode, metrics } };
}

function episodeRow(example: Example, own: PlayedEpisode, score: CheckedScore): ResultRow {
  const { completion, sum_logprob, episode } = own;
  const answer = { id: example.id, completion, sum_logprob };
  return { ...resultRow(example, answer, score), passed: false, episode };
}
