/** The case study's table of failure modes, and its cost, which must be that of the runs it links to. */

import { tokensUsed, totalSeconds } from "../../runs/index.ts";
import { sections } from "../notes.ts";
import { textOf } from "../workspace-files.ts";
import { CASE, linked } from "./case-study.ts";
import { type Criterion, met, missing, type PlanContext } from "./criterion.ts";

const FAILURE_MODES: Readonly<Record<string, RegExp>> = {
  "reward hacking": /reward[ -]hack/i,
  "length bias": /verbos|length/i,
  "refusal drift": /refus/i,
  "safety regressions": /safety/i,
  "mode collapse": /collapse/i,
};
const MODES = Object.keys(FAILURE_MODES);

export const diagnostics: Criterion = {
  id: "case_study_diagnostics",
  title: "In it: a table of failure modes, and the cost",
  async check(context) {
    const text = textOf(context.dir, CASE) ?? "";
    const lost = MODES.filter((name) => !hasRow(text, FAILURE_MODES[name] as RegExp));
    const problem =
      lost.length > 0
        ? `no row with a status and a figure for ${lost.join(", ")}`
        : await problemOfCost(context, text);
    if (problem === undefined)
      return met({ path: CASE, figure: "five failure modes in a table, and the cost" });
    return missing(
      `${CASE} with a table that has a row for each of ${MODES.join(", ")}, with a status and a figure, and a heading "Cost" with the tokens or the time of a linked run`,
      problem,
      `Add it to ${CASE}, as in: | mode collapse | not seen | most common text 12 % |`,
    );
  },
};

/** A row whose first cell names the mode; the others say whether it was seen, and how often. */
function hasRow(text: string, mode: RegExp): boolean {
  return text.split("\n").some((line) => {
    const [, first = "", ...rest] = line.trim().startsWith("|") ? line.split("|") : [];
    const said = rest.join("|");
    const others = MODES.filter((name) => FAILURE_MODES[name]?.test(first)).length;
    return mode.test(first) && others === 1 && /\p{L}{2}/u.test(said) && /\d/.test(said);
  });
}

const AMOUNT = /(\d[\d,.]*)\s*(million\s+)?(tokens?|seconds?|secs?|s|minutes?|mins?|hours?|h)\b/gi;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
/** Rounded figures agree. */
const TOLERANCE = 0.05;

async function problemOfCost(context: PlanContext, text: string): Promise<string | undefined> {
  const cost = sections(text).find(({ heading }) => /\bcosts?\b/i.test(heading));
  const stated = amounts(cost?.body ?? "");
  if (stated.length === 0) return "no cost in tokens, seconds, minutes or hours";
  const { tokens, seconds } = await costs(context, text);
  const agrees = stated.some(({ unit, value }) =>
    (unit === "tokens" ? tokens : seconds).some((one) => Math.abs(one - value) <= TOLERANCE * one),
  );
  return agrees ? undefined : "its cost is not that of a run that it links to, or of all of them";
}

function amounts(text: string): { unit: "tokens" | "seconds"; value: number }[] {
  return [...text.matchAll(AMOUNT)].map(([, digits = "", million, unit = ""]) => {
    const value = Number(digits.replace(/,/g, "").replace(/\.$/, "")) * (million ? 1e6 : 1);
    const factor = SECONDS[unit[0]?.toLowerCase() ?? ""];
    return factor === undefined
      ? { unit: "tokens", value }
      : { unit: "seconds", value: value * factor };
  });
}

/** Of each linked run, and of all of a kind together. */
async function costs(context: PlanContext, text: string) {
  const { trained, failing, runs, reports } = await linked(context, CASE, text);
  const trainings = [...new Map([...trained, ...failing].map((run) => [run.path, run])).values()];
  const evaluated = new Map(runs.map((known) => [known.path, known.run]));
  for (const known of reports) {
    const compared = await context.runs.compared(known);
    if (typeof compared === "string") continue;
    for (const { path, run } of [compared.baseline, compared.candidate]) evaluated.set(path, run);
  }
  const tokens = trainings.map(({ records }) => {
    const { trained: learnedFrom, sampled } = tokensUsed(records);
    return learnedFrom + sampled;
  });
  const learned = trainings.map(({ records }) => totalSeconds(records));
  const measured = [...evaluated.values()].map(({ manifest }) => manifest.volatile.seconds);
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const positive = (values: readonly number[]) => values.filter((value) => value > 0);
  return {
    tokens: positive([...tokens, sum(tokens)]),
    seconds: positive([...learned, ...measured, sum(learned), sum([...learned, ...measured])]),
  };
}
