/** What the head of a run says of the validation set: how it went, and who won against the start. */

import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { EvaluationRecord } from "../../runs/train-records.ts";
import { againstStart, milestones, passInterval } from "./evaluations.ts";
import { type Html, html } from "./html.ts";
import { grouped, many, NONE, percent, percentRange, plain, pValue, signed } from "./numbers.ts";

type Row = [label: string, read: (one: EvaluationRecord) => string];

/** Start, best and end of the validation set beside each other; a row that repeats another is left out. */
export function milestoneTable(run: TrainingRunRecords): Html | undefined {
  const reached = milestones(run);
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
    isOwn("reward_mean", "pass_rate") && ["reward", (one) => plain(one.reward_mean)],
    isOwn("proxy_mean", "reward_mean") && ["proxy reward", (one) => plain(one.proxy_mean)],
    ["exact KL", (one) => plain(one.kl_exact)],
    ["entropy", (one) => plain(one.entropy)],
    ["length", (one) => plain(one.length_mean)],
    ["cut off", (one) => percent(one.truncated)],
    ["commonest answer", (one) => percent(one.repeated)],
  ];
  return html`<div class="wide"><table>
<thead><tr><th scope="col">validation</th>${all.map(([when]) => html`<th scope="col">${when}</th>`)}</tr></thead>
<tbody>
${rows.filter((one) => one !== false).map(row)}</tbody></table></div>
`;
}

const rangeOrNone = (range: [number, number] | undefined) => (range ? percentRange(range) : NONE);

/** The win rate in words, with how it was reckoned. */
export function winSentence(run: TrainingRunRecords): string | undefined {
  const fought = againstStart(run);
  if (fought === undefined) return undefined;
  const { wins, losses, ties, rate, p, difference, step, isKept } = fought;
  const who = `${isKept ? "The kept policy" : "The policy"} of step ${grouped(step)}`;
  const { mean, interval } = difference;
  if (wins + losses === 0) return `${who} does as the start does on all ${ties} examples.`;
  // Whoever picks the best of many looks and tests it on the same examples is too pleased.
  const picked = isKept ? " These examples also chose it, so that this flatters it." : "";
  return `${who} wins ${wins} of ${wins + losses + ties} examples against the start, loses ${losses} and ties on ${ties}: win rate ${percent(rate.share)} with ties as halves (95\u00a0% interval ${percentRange(rate.interval)}; exact sign test ${pValue(p)}). Mean reward ${signed(mean)} (${signed(interval.low)} to ${signed(interval.high)}).${picked}`;
}

/** The one look at examples that nothing was decided by. */
export function holdoutSentence({ summary }: TrainingRunRecords): string | undefined {
  const { pass_rate: rate, before } = summary?.holdout ?? {};
  if (rate === null || rate === undefined || before === undefined) return undefined;
  const looks =
    before === 0 ? "the first look at it" : `after ${many(before, "earlier look")} at such a set`;
  return `On the holdout set the policy passes ${percent(rate)}, ${looks}.`;
}
