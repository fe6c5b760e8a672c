/** Why no completion of a step was rewarded, as far as its record shows. */

import type { StepRecord } from "../../runs/train-records.ts";
import { type Check, column, metric, percent } from "./history.ts";

/** From this share on, a reason is given for nearly all completions. */
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
      `${cut === 1 ? "Every completion is" : `${percent(cut)} of the completions are`} cut at the limit${limit} before the end: raise ${setting}.`,
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
    return `The scorer gives all ${all} completions the code ${first[0]}: if that means a wrong format, teach the format with sft first, or describe it in the prompt.`;
  }
  const listed = codes.slice(0, CODES).map(([code, count]) => `${code} ${count}`);
  return `Outcome codes of the ${all} completions: ${listed.join(", ")}${codes.length > CODES ? ", …" : ""}.`;
}

/** No reward at all for some steps, of methods that have a gradient even so. */
export const zeroReward: Check = ({ steps, facts }, { zeroSteps }) => {
  const last = steps.at(-1);
  const recent = steps.slice(-zeroSteps);
  const [least, most] = [column(recent, "reward/min"), column(recent, "reward/max")];
  // Where completions of a prompt are compared, zero_gradient reports it at once.
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
