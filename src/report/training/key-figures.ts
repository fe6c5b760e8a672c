/** The key figures of a run: values at the start and at the end. */

import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { BusinessOptions } from "../business/business.ts";
import { type Figure, figureTiles } from "../page/figure-tiles.ts";
import type { Html } from "../page/html.ts";
import {
  duration,
  grouped,
  many,
  moneyText,
  NONE,
  percent,
  percentRange,
  plain,
} from "../page/numbers.ts";
import { costOf } from "./cost.ts";
import { comparedWithStart, type Milestones, milestonesOf } from "./evaluations.ts";
import { isJudged } from "./judged/judge-of.ts";
import { judgeWinRate, labelWinRate } from "./judged/win-rates.ts";
import { type Ends, endsOf, lastOf, startAndEnd } from "./series.ts";

export function keyFigures(
  run: TrainingRunRecords,
  { pricePerHour, prices }: Pick<BusinessOptions, "pricePerHour" | "prices">,
): Html {
  const reached = milestonesOf(run);
  const figures = [
    reached && passFigure(reached),
    winFigure(run),
    ...judgeFigures(run),
    lossFigure(run),
    klFigure(run, reached),
    change("Entropy", startAndEnd(run, "entropy", "entropy"), "nats per token"),
    change("Length", startAndEnd(run, "length/mean", "length_mean"), "tokens per completion"),
    costFigure(run, pricePerHour),
    judgeCostFigure(run, prices),
  ];
  return figureTiles(figures.filter((figure) => figure !== undefined));
}

function passFigure({ start, best, end }: Milestones): Figure {
  return {
    label: "Validation pass rate",
    value: start === end ? percent(end.pass_rate) : arrow(percent, start.pass_rate, end.pass_rate),
    note: `best ${percent(best.pass_rate)} at step ${grouped(best.step)}`,
  };
}

function winFigure(run: TrainingRunRecords): Figure | undefined {
  const comparison = comparedWithStart(run);
  if (comparison === undefined || isJudged(run)) return undefined;
  const { wins, ties, losses, rate } = comparison;
  return {
    label: "Win rate against the initial policy",
    value: percent(rate.share),
    note: `${percentRange(rate.interval)}; ${wins} won, ${ties} tied, ${losses} lost`,
  };
}

/** By the judge and by labels, of the same validation: where a judge is hacked, only both show it. */
function judgeFigures(run: TrainingRunRecords): Figure[] {
  const last = run.evaluations.findLast(({ judge }) => judge);
  if (!last) return [];
  const rates = [
    ["judge", judgeWinRate(last)] as const,
    ["labels", labelWinRate(run, last)] as const,
  ];
  return rates.flatMap(([by, found]) => {
    if (!found) return [];
    const range = found.interval ? percentRange(found.interval) : "no interval";
    return {
      label: `Win rate against the initial policy, ${by}`,
      value: percent(found.rate),
      note: `${range}; ${many(found.n, "task")}, step ${grouped(last.step)}`,
    };
  });
}

function judgeCostFigure(
  run: TrainingRunRecords,
  prices: BusinessOptions["prices"],
): Figure | undefined {
  const { judge } = costOf(run, undefined, prices);
  if (!judge) return undefined;
  const { dollars, prompt, completion, groups, dropped } = judge;
  return {
    label: "Judge",
    value: dollars === null ? "no price given" : `$${moneyText(dollars)}`,
    note: `${grouped(prompt)} tokens read, ${grouped(completion)} written; ${many(groups, "group")}, ${grouped(dropped)} dropped`,
  };
}

function klFigure(run: TrainingRunRecords, reached: Milestones | undefined): Figure | undefined {
  const exact = reached?.end.kl_exact ?? undefined;
  const value = exact ?? lastOf(run, "kl/k3");
  if (value === undefined) return undefined;
  const rows = lastOf(run, "kl/rows");
  const estimate = `k3${rows === undefined ? "" : ` of ${grouped(rows)} rows`}, last step`;
  const note = `${exact === undefined ? estimate : "exact, at the end"}; nats per token`;
  return { label: "KL to the reference", value: plain(value), note };
}

/** For runs without evaluations. */
function lossFigure(run: TrainingRunRecords): Figure | undefined {
  if (run.evaluations.length > 0) return undefined;
  return change("Loss", endsOf(run, "loss"), "of the updates, first and last 10 % of steps");
}

function change(label: string, ends: Ends | undefined, note: string): Figure | undefined {
  return ends && { label, value: arrow(plain, ends.start, ends.end), note };
}

function costFigure(run: TrainingRunRecords, pricePerHour: number | undefined): Figure | undefined {
  const { total, money, trained, sampled } = costOf(run, pricePerHour);
  if (total === undefined && trained + sampled === 0) return undefined;
  const tokens = [
    ...(sampled > 0 ? [`${grouped(sampled)} tokens sampled`] : []),
    `${grouped(trained)} tokens trained on`,
  ];
  if (total === undefined)
    return { label: "Cost", value: NONE, note: ["time not measured", ...tokens].join("; ") };
  const price = money === undefined ? "no price given" : `${moneyText(money)} at the given price`;
  return { label: "Cost", value: duration(total), note: [price, ...tokens].join("; ") };
}

function arrow(write: (value: number) => string, from: number, to: number): string {
  return `${write(from)} → ${write(to)}`;
}
