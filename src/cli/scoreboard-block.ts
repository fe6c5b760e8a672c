/** A week of the scoreboard as text to copy: every field, with its value or "not measured". */

import { visible } from "../core/visible.ts";
import { SKILLS, type Week } from "../course/scoreboard/index.ts";
import { wrap } from "./terminal.ts";

const SKILL_NAMES: Readonly<Record<(typeof SKILLS)[number], string>> = {
  math: "Math",
  algorithms: "Algorithms",
  systems: "Systems",
  debugging: "Debugging",
  evaluation: "Evals",
  research_taste: "Taste",
};

export function weekBlock(week: Week): string {
  const { days, shipped, failures, fixes, skills } = week;
  const link = (label: string, path: string | null) =>
    `${label} shipped: ${path === null ? "N" : `Y  (${visible(path)})`}`;
  const scores = SKILLS.map((name) => `${SKILL_NAMES[name]} ${skills[name]?.score ?? "__"}`);
  return [
    `Week ${week.week} (Days ${days[0]}-${days[1]})`,
    link("Build", shipped.build),
    link("Theory compression", shipped.theory),
    link("Eval/ablation", shipped.eval),
    link("Blog", shipped.blog),
    "",
    "Key metrics:",
    ...metricLines(week),
    "",
    "Failures discovered (>=2):",
    ...points(failures),
    "",
    "Fixes validated (>=1):",
    ...points(fixes),
    "",
    "Skill scores (0-5):",
    `  ${scores.join(" | ")}`,
  ].join("\n");
}

function metricLines({ metrics }: Week): string[] {
  const { success, safety_drift, refusal_drift, hallucination_proxy, mean_length, kl } = metrics;
  const said = <T>(value: T | null, words: (value: T) => string) =>
    value === null ? "not measured" : words(value);
  const drift = [
    `safety ${said(safety_drift, signed)}`,
    `refusal ${said(refusal_drift, signed)}`,
  ].join(", ");
  return [
    `- Main task success: ${said(success, (x) => x.toFixed(4))}`,
    `- Safety/refusal drift: ${drift}`,
    `- Hallucination proxy: ${said(hallucination_proxy, ({ value, from }) => `${value.toFixed(4)} (${from})`)}`,
    `- Avg output length: ${said(mean_length, (x) => `${x.toFixed(1)} characters`)}`,
    `- KL (to reference): ${said(kl, ({ value }) => `${compact(value)} nats`)}`,
    `- Cost estimate ($ or tokens): ${costText(metrics.cost)}`,
  ].map((line) => wrap(line, "  ").slice(2));
}

/** Money and tokens where they are known; the time of the runs otherwise. */
export function costText(cost: Week["metrics"]["cost"]): string {
  if (cost === null) return "not measured";
  const { seconds, tokens, money, unpriced } = cost;
  const price = money === null ? [] : [`${money.toFixed(2)} at the stated prices`];
  const without = money !== null && unpriced > 0 ? [`${unpriced} without a price`] : [];
  const counted = tokens === null ? [] : [`${tokens} tokens`];
  return [...counted, ...price, ...without, `${seconds.toFixed(1)} s`].join(", ");
}

const points = (texts: readonly string[]) =>
  texts.length === 0 ? ["- __"] : texts.map((text) => `- ${wrap(visible(text), "  ").slice(2)}`);

export function signed(value: number): string {
  return `${value < 0 ? "" : "+"}${value.toFixed(4)}`;
}

export function compact(value: number): string {
  return String(Number(value.toPrecision(4)));
}
