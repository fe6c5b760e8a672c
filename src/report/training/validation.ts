/** The validation part of a run summary: a table of start, best and end, and the win rate. */

import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { EvaluationRecord } from "../../runs/train-records.ts";
import { type Html, html } from "../page/html.ts";
import {
  grouped,
  many,
  NONE,
  percent,
  percentRange,
  plain,
  pValue,
  signed,
} from "../page/numbers.ts";
import { comparedWithStart, milestonesOf, passInterval } from "./evaluations.ts";
import { hasLabels, isJudged } from "./judged/judge-of.ts";
import { judgeWinRate, labelWinRate, type MeasuredRate } from "./judged/win-rates.ts";

type Row = [label: string, read: (one: EvaluationRecord) => string];

/** Start, best and end side by side; a row that repeats another is left out. */
export function milestoneTable(run: TrainingRunRecords): Html | undefined {
  const reached = milestonesOf(run);
  if (reached === undefined) return undefined;
  const all = Object.entries(reached).filter(
    (entry): entry is [string, EvaluationRecord] => entry[1] !== undefined,
  );
  const isOwn = (a: "reward_mean" | "proxy_mean", b: "pass_rate" | "reward_mean") =>
    run.evaluations.some((one) => one[a] !== one[b]);
  const row = ([label, read]: Row) =>
    html`<tr><th scope="row">${label}</th>${all.map(([, one]) => html`<td>${read(one)}</td>`)}</tr>\n`;
  const rows: (Row | false)[] = [
    ["step", ({ step }) => grouped(step)],
    ["pass rate", (one) => percent(one.pass_rate)],
    ["95 % interval", (one) => rangeOrNone(passInterval(one))],
    ...winRows(run),
    isOwn("reward_mean", "pass_rate") && ["reward", (one) => plain(one.reward_mean)],
    isOwn("proxy_mean", "reward_mean") && [
      isJudged(run) ? "judge's mean score" : "proxy reward",
      (one) => plain(one.proxy_mean),
    ],
    ["exact KL", (one) => plain(one.kl_exact)],
    ["entropy", (one) => plain(one.entropy)],
    ["length", (one) => plain(one.length_mean)],
    ["truncated", (one) => percent(one.truncated)],
    ["most common completion", (one) => percent(one.repeated)],
    all.some(([, one]) => one.repetition !== undefined) && [
      "repetition within a completion",
      (one) => (one.repetition === undefined ? NONE : percent(one.repetition)),
    ],
  ];
  return html`<div class="wide"><table>
<thead><tr><th scope="col">validation</th>${all.map(([when]) => html`<th scope="col">${when}</th>`)}</tr></thead>
<tbody>
${rows.filter((one) => one !== false).map(row)}</tbody></table></div>
`;
}

/** Of a judged run: the win rates against the initial policy. */
function winRows(run: TrainingRunRecords): Row[] {
  if (!isJudged(run)) return [];
  const row = (who: string, read: (one: EvaluationRecord) => MeasuredRate | undefined): Row => [
    `win rate by ${who}`,
    (one) => {
      const found = read(one);
      return found ? percent(found.rate) : NONE;
    },
  ];
  return [
    row("the judge", judgeWinRate),
    ...(hasLabels(run) ? [row("labels", (one) => labelWinRate(run, one))] : []),
  ];
}

const rangeOrNone = (range: [number, number] | undefined) => (range ? percentRange(range) : NONE);

/** The win rate against the initial policy, with its interval and test. */
export function winSentence(run: TrainingRunRecords): string | undefined {
  const comparison = comparedWithStart(run);
  if (comparison === undefined) return undefined;
  if (isJudged(run) && !hasLabels(run)) return undefined;
  const { wins, losses, ties, rate, p, difference, step, isKept } = comparison;
  const who = `${isKept ? "the kept policy" : "the policy"} at step ${grouped(step)}`;
  const { mean, interval } = difference;
  if (wins + losses === 0)
    return `No change: ${who} gets the same rewards as the initial policy on all ${ties} examples.`;
  // A policy selected on these examples scores too high on them.
  const picked = isKept
    ? " The kept policy was selected on these examples, so this estimate is biased upwards."
    : "";
  return `Against the initial policy, ${who} wins ${wins} of ${wins + losses + ties} examples, loses ${losses} and ties ${ties}: win rate ${percent(rate.share)} counting ties as half (95\u00a0% interval ${percentRange(rate.interval)}; exact sign test ${pValue(p)}). Mean reward ${signed(mean)} (${signed(interval.low)} to ${signed(interval.high)}).${picked}`;
}

/** What the judge says of the last policy, and whether the labels contradict it. */
export function judgeSentence(run: TrainingRunRecords): string | undefined {
  const last = run.evaluations.findLast(({ judge }) => judge);
  const judged = last && judgeWinRate(last);
  if (!last || !judged?.interval || last.step === 0) return undefined;
  const labelled = labelWinRate(run, last);
  const byLabels = labelled?.interval
    ? `; by labels ${percent(labelled.rate)} (${percentRange(labelled.interval)})`
    : "; there are no labels, so only the judge says so";
  const isContradicted =
    labelled?.interval && judged.interval[0] > 0.5 && labelled.interval[1] < 0.5
      ? " The judge prefers what the labels call worse."
      : "";
  return `The judge prefers the policy at step ${grouped(last.step)} to the initial one in ${percent(judged.rate)} of ${many(judged.n, "task")} (95\u00a0% interval ${percentRange(judged.interval)})${byLabels}.${isContradicted}`;
}

/** The holdout pass rate, and how often a holdout set was used before. */
export function holdoutSentence({ summary }: TrainingRunRecords): string | undefined {
  const { pass_rate: rate, before } = summary?.holdout ?? {};
  if (rate === null || rate === undefined || before === undefined) return undefined;
  const uses =
    before === 0
      ? "used for the first time"
      : `after ${many(before, "earlier use")} of a holdout set`;
  return `Holdout pass rate ${percent(rate)}, ${uses}.`;
}
