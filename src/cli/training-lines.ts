/** What a training run says while it runs, as plain lines. */

import { visibleShort } from "../core/visible.ts";
import { type ScratchPolicy, scratchAdvice } from "../learn/from-scratch.ts";
import type { EarlyStop } from "../learn/options.ts";
import type { TrainingRunRecords } from "../runs/read-training-run.ts";
import { isStopCondition } from "../runs/stop-reasons.ts";
import type { EvaluationRecord, SampleRecord, StepRecord } from "../runs/train-records.ts";
import { judgeUsed } from "../runs/training-cost.ts";
import { hanging, wrap } from "./terminal.ts";

/** Completions that are shown at each validation. */
const SHOWN = 2;

/** "loss 0.5312, reward 0.4123, 3.5 turns": what a step has of them. */
export function figures(record: StepRecord): string {
  const { loss, "reward/mean": reward, "episode/turns": turns } = record;
  return [
    `loss ${Number(loss).toFixed(4)}`,
    ...(reward === undefined ? [] : [`reward ${Number(reward).toFixed(4)}`]),
    ...(turns === undefined ? [] : [`${Number(turns).toFixed(1)} turns`]),
  ].join(", ");
}

/** Pass rate, held-out loss, outcome codes, two samples; of the first validation also how it samples. */
export function validationLines(
  { step, pass_rate, reward_mean, loss, outcomes, episode, judge, labels }: EvaluationRecord,
  samples: readonly SampleRecord[],
  sampling?: { readonly temperature: number; readonly max_tokens: number },
): string[] {
  const how = sampling
    ? ` (temperature ${sampling.temperature}, at most ${sampling.max_tokens} tokens)`
    : "";
  const codes = Object.entries(outcomes).sort(([, a], [, b]) => b - a);
  const parts = [
    // Without labels an example passes where the judge prefers it.
    ...(judge && !labels ? [] : [`pass rate ${pass_rate.toFixed(4)}`]),
    ...(judge ? [winRates({ judge, labels })] : []),
    ...(episode ? [`reward ${reward_mean.toFixed(4)}`, episodeText(episode)] : []),
    ...(loss === undefined ? [] : [`held-out loss ${loss.toFixed(4)}`]),
    codes.map(([code, count]) => `${code} ${count}`).join(", "),
  ];
  return [
    wrap(`validation at step ${step}${how}: ${parts.join("; ")}`, "    ").slice(2),
    ...samples
      .slice(0, SHOWN)
      .map(({ prompt, completion, code }) =>
        wrap(`"${visibleShort(prompt, 28)}" → "${visibleShort(completion, 28)}" ${code}`, "    "),
      ),
  ];
}

type Compared = Pick<EvaluationRecord, "judge" | "labels">;

/** "win rate judge 0.813, labels 0.750": short, for it stands beside the pass rate. */
function winRates({ judge, labels }: Compared): string {
  const rates = Object.entries({ judge, labels }).flatMap(([who, found]) =>
    found ? [`${who} ${found.win_rate.toFixed(3)}`] : [],
  );
  return `win rate ${rates.join(", ")}`;
}

/** At the end of a judged run: the win rates, and what the judge cost. */
export function judgeLines(run: TrainingRunRecords): string[] {
  const last = run.evaluations.at(-1);
  const used = judgeUsed(run);
  if (!last?.judge || !used) return [];
  const { prompt, completion, dropped, groups, dollars } = used;
  const price = dollars === null ? "" : `, $${dollars.toFixed(2)}`;
  const rate = winRates(last).replace("win rate ", "");
  return [
    hanging("  win rate    ", `${rate}, against the initial policy`),
    hanging(
      "  judge       ",
      `${groups} groups, ${dropped} dropped; ${prompt} tokens read, ${completion} written${price}`,
    ),
  ];
}

/** "3.5 turns, 0.2 tool errors, 12 % cut short" */
function episodeText({ turns = 0, tool_errors, truncated = 0 }: Record<string, number>): string {
  return [
    `${turns.toFixed(1)} turns`,
    ...(tool_errors === undefined ? [] : [`${tool_errors.toFixed(2)} tool errors`]),
    ...(truncated === 0 ? [] : [`${(100 * truncated).toFixed(0)} % cut short`]),
  ].join(", ");
}

/** Whether the validation has a held-out loss: rows of --dev with a completion, without one, no --dev. */
export type HeldOut = "loss" | "no completion" | "no rows";

const ENDS: Record<HeldOut, string> = {
  loss: "end where the held-out loss no longer falls",
  "no completion":
    "the rows of --dev have no completion, so there is no held-out loss to end by: add completions to them",
  "no rows": "for a held-out loss to end by, give texts that are not trained on as --dev",
};

/** "the alarm reward_hacking", "the condition stop.plateau" */
export function stoppedBy(reason: string): string {
  return isStopCondition(reason) ? `the condition stop.${reason}` : `the alarm ${reason}`;
}

/** Which condition ended the run, and its figures. */
export function stopLine({ reason, step, message }: EarlyStop): string {
  return wrap(`stops at step ${step} (stop.${reason}): ${message}`, "    ").slice(2);
}

/** Vocabulary and context of a policy from scratch, and what suits the amount of data. */
export function scratchLines(
  policy: ScratchPolicy,
  settings: { readonly steps: number; readonly batch: number; readonly heldOut?: HeldOut },
): string[] {
  const { heldOut = "loss" } = settings;
  const { size, parameters, vocabulary, alphabet, context, longest, texts, tokens } = policy;
  const { passes, steps, size: fitting } = scratchAdvice(policy, settings);
  const whole = (count: number) => count.toLocaleString("en");
  const seen = `${settings.steps} steps of ${settings.batch} are ${passes < 10 ? passes.toFixed(1) : passes.toFixed(0)} passes`;
  return [
    wrap(`A policy from scratch: ${size}, ${whole(parameters)} parameters.`),
    hanging(
      "  vocabulary  ",
      `${vocabulary} tokens: 3 special ones and ${vocabulary - 3} characters, ${visibleShort(alphabet, 200)}`,
    ),
    hanging(
      "  context     ",
      `${context} tokens, prompt included; the longest text has ${longest + 2} (--context N)`,
    ),
    hanging(
      "  data        ",
      `${texts === 1 ? "1 text" : `${whole(texts)} texts`}, ${whole(tokens)} tokens to learn; ${seen}`,
    ),
    hanging(
      "  advice      ",
      `for this amount of data --size ${fitting} and about --steps ${steps}; ${ENDS[heldOut]}`,
    ),
  ];
}
