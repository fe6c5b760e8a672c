/** Why no completion of a step was rewarded, as far as its record shows. */

import type { StepRecord } from "../../runs/train-records.ts";
import { type Check, column, metric, percent } from "./history.ts";

/** From this share of all completions on, "nearly all" is said. */
const NEARLY_ALL = 0.9;
const CODES = 3;

/** Sentences, the likeliest reason first; each begins with a space. */
export function whyUnrewarded(
  step: StepRecord,
  { maxTokens, setting }: { readonly maxTokens: number | undefined; readonly setting: string },
): string {
  const cut = metric(step, "length/truncated") ?? 0;
  const same = metric(step, "repeated") ?? 0;
  const longest = metric(step, "length/max");
  const limit = maxTokens === undefined ? "" : ` of ${maxTokens} tokens`;
  return [
    cut >= NEARLY_ALL &&
      `${cut === 1 ? "Every completion" : `${percent(cut)} of the completions`} is cut at the limit${limit}, before its end: raise ${setting}.`,
    longest !== undefined && longest <= 1 && "Every completion is empty.",
    same >= NEARLY_ALL && `${percent(same)} of the completions are the same text.`,
    codesOf(step),
  ]
    .filter((reason) => typeof reason === "string" && reason !== "")
    .map((reason) => ` ${reason}`)
    .join("");
}

function codesOf({ outcomes }: StepRecord): string {
  const codes = Object.entries(outcomes ?? {}).sort(([, a], [, b]) => b - a);
  const [first] = codes;
  if (!first) return "";
  const all = codes.reduce((sum, [, count]) => sum + count, 0);
  if (codes.length === 1) {
    return `The scorer says ${first[0]} of all ${all} completions: if that is its code for a wrong format, teach the format with sft first, or put it into the prompt.`;
  }
  const listed = codes.slice(0, CODES).map(([code, count]) => `${code} ${count}`);
  return `The scorer says, of ${all} completions: ${listed.join(", ")}${codes.length > CODES ? ", …" : ""}.`;
}

/** No reward at all for some steps, of methods that have a gradient even so. */
export const zeroReward: Check = ({ steps, facts }, { zeroSteps }) => {
  const last = steps.at(-1);
  const recent = steps.slice(-zeroSteps);
  const [least, most] = [column(recent, "reward/min"), column(recent, "reward/max")];
  // Of methods that compare the completions of a prompt, zero_gradient says it at once.
  if (!last || facts.grouped !== false || most.length < zeroSteps) return undefined;
  if ([...least, ...most].some((reward) => reward !== 0)) return undefined;
  const setting = facts.advice?.maxTokens ?? "rollouts.max_tokens";
  return {
    alarm: "zero_reward",
    stops: false,
    message: `Why the reward is 0: for ${zeroSteps} steps no completion was rewarded.${whyUnrewarded(last, { maxTokens: facts.maxTokens, setting })} Read the samples, and score one of them by hand.`,
    evidence: { reward_mean: metric(last, "reward/mean"), outcomes: last.outcomes ?? {} },
  };
};
