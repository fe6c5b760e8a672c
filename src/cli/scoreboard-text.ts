/** Prints the scoreboard: an added week, or all weeks. */

import { columns, visible } from "../core/visible.ts";
import {
  type Added,
  everyWeek,
  type Review,
  SKILL_MATRIX,
  SKILLS,
  sparkline,
  type Week,
  WRONG_ANSWERS,
} from "../course/scoreboard/index.ts";
import { compact, costText, signed } from "./scoreboard-block.ts";
import { hanging, out, paint, print, warning } from "./terminal.ts";

export function showAdded(added: Added, warnings: readonly string[]): void {
  const { week, days, metrics } = added.week;
  const doubtful = added.notRescored !== undefined && metrics.success !== null;
  const doubt = doubtful ? `  (not scored again: ${added.notRescored})` : "";
  out(`Week ${week}, days ${days[0]}–${days[1]}`);
  const rows: [string, string][] = [
    ["main task success", figure(metrics.success, (x) => x.toFixed(4)) + doubt],
    ["format drift", figure(metrics.format_drift, signed)],
    ["safety drift", figure(metrics.safety_drift, signed)],
    ["refusal drift", figure(metrics.refusal_drift, signed)],
    [
      "hallucination proxy",
      figure(metrics.hallucination_proxy, ({ value, from }) => `${value.toFixed(4)}, ${from}`),
    ],
    ["mean output length", figure(metrics.mean_length, (x) => `${x.toFixed(1)} characters`)],
    [
      "KL to the reference",
      figure(metrics.kl, ({ value, from }) => `${compact(value)} nats, ${from}`),
    ],
    ["cost", costText(metrics.cost)],
  ];
  for (const [label, value] of rows) out(hanging(`  ${label.padEnd(20)} `, value));
  for (const one of warnings) out(warn(week, one));
  if (added.kept) out(`The replaced week is kept as ${added.kept}.`);
  print(`Written to ${added.file}. Commit it: git add ${added.file}`);
}

export function showBoard(
  weeks: readonly Week[],
  reviews: readonly Review[],
  charts: readonly string[],
): void {
  showTable(weeks, new Map(reviews.map((review) => [review.week, review.not_rescored])));
  showFindings(weeks);
  showSkills(weeks);
  showSparklines(weeks);
  out();
  for (const { week, warnings } of reviews) for (const one of warnings) out(warn(week, one));
  out(`Charts written to ${charts.join(" and ")}`);
}

function showTable(weeks: readonly Week[], doubts: ReadonlyMap<number, string | undefined>): void {
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => pad(cell, WIDTHS[i] ?? 0))
      .join("  ")
      .trimEnd();
  const head = [
    "week",
    "B T E P",
    "success ",
    "safety",
    "refusal",
    "halluc",
    "length",
    "KL",
    "cost",
  ];
  out(paint("bold", line(head)));
  for (const { week, shipped, metrics } of weeks) {
    const { build, theory, eval: evaluation, blog } = shipped;
    const letters = [build, theory, evaluation, blog].map((link) => (link === null ? "N" : "Y"));
    out(
      line([
        String(week),
        letters.join(" "),
        short(metrics.success, (x) => x.toFixed(4)) + (doubts.get(week) ? "*" : " "),
        short(metrics.safety_drift, signed),
        short(metrics.refusal_drift, signed),
        short(metrics.hallucination_proxy, proxyText),
        short(metrics.mean_length, (x) => x.toFixed(1)),
        short(metrics.kl, ({ value }) => compact(value)),
        short(metrics.cost, shortCost),
      ]),
    );
  }
  out(paint("gray", "Y shipped, N not: Build, Theory, Evaluation, Post.  n/m not measured"));
  out(paint("gray", "safety, refusal: change against the baseline.  cost: money, tokens or time"));
  for (const note of proxyNotes(weeks)) out(paint("gray", note));
  const reasons = new Set([...doubts.values()].filter((reason) => reason !== undefined));
  for (const reason of reasons) out(`* not scored again: ${reason}`);
}

const WIDTHS = [4, 7, 8, 7, 7, 7, 7, 8, 9];

type Proxy = NonNullable<Week["metrics"]["hallucination_proxy"]>;

/** With a letter for what it was measured by: the two proxies cannot be compared. */
function proxyText({ value, from }: Proxy): string {
  return `${value.toFixed(4)}${from === WRONG_ANSWERS ? "w" : "a"}`;
}

const PROXY_NOTES = { w: WRONG_ANSWERS, a: "from the axis hallucination" } as const;

function proxyNotes(weeks: readonly Week[]): string[] {
  const used = weeks.flatMap(({ metrics }) => metrics.hallucination_proxy ?? []).map(proxyText);
  return Object.entries(PROXY_NOTES)
    .filter(([letter]) => used.some((text) => text.endsWith(letter)))
    .map(([letter, note]) => `halluc ${letter}: ${note}`);
}

/** What was found and fixed, again, so that it is not found twice. */
function showFindings(weeks: readonly Week[]): void {
  for (const { week, failures, fixes } of weeks) {
    if (failures.length + fixes.length === 0) continue;
    out();
    out(paint("bold", `Week ${week}`));
    for (const text of failures) out(hanging("  failure  ", visible(text)));
    for (const text of fixes) out(hanging("  fix      ", visible(text)));
  }
}

function showSkills(weeks: readonly Week[]): void {
  const scored = weeks.filter(({ skills }) => Object.keys(skills).length > 0);
  if (scored.length === 0) return;
  out();
  out(paint("bold", `week  ${SKILLS.join("  ")}`));
  for (const { week, skills } of scored) {
    const cells = SKILLS.map((name) => pad(String(skills[name]?.score ?? "–"), name.length));
    out(`${pad(String(week), 4)}  ${cells.join("  ")}`);
  }
}

const MAX_SPARKS = 48;

/** One measurement is not a trend. */
function showSparklines(weeks: readonly Week[]): void {
  const trends: [string, (week: Week) => number | null][] = [
    ["success", ({ metrics }) => metrics.success],
    ["format", ({ metrics }) => metrics.format_drift],
    ["safety", ({ metrics }) => metrics.safety_drift],
    ["refusal", ({ metrics }) => metrics.refusal_drift],
    ["length", ({ metrics }) => metrics.mean_length],
    ["KL", ({ metrics }) => metrics.kl?.value ?? null],
  ];
  // A change of data or scorer is not a trend: only weeks with the latest conditions are joined.
  const conditions = weeks.findLast(({ run }) => run !== null)?.run?.conditions_sha256;
  const lines = trends.flatMap(([label, of]) => {
    const values = everyWeek(weeks).map(({ week }) =>
      week?.run?.conditions_sha256 === conditions && week ? of(week) : null,
    );
    const [first, ...later] = values.filter((value) => value !== null);
    const last = later.at(-1);
    if (first === undefined || last === undefined) return [];
    const line = sparkline(values.slice(-MAX_SPARKS));
    return [`${label.padEnd(8)} ${line}  ${compact(first)} → ${compact(last)}`];
  });
  if (lines.length > 0) out(`\n${lines.join("\n")}`);
}

export function showMatrix(): void {
  for (const name of SKILLS) {
    out(paint("bold", name));
    for (const [score, meaning] of SKILL_MATRIX[name].entries()) out(`  ${score}  ${meaning}`);
  }
}

function warn(week: number, text: string): string {
  return warning(`week ${week}: ${visible(text)}`, "");
}

function figure<T>(value: T | null, words: (value: T) => string, missing = "not measured"): string {
  return value === null ? missing : words(value);
}

function short<T>(value: T | null, words: (value: T) => string): string {
  return figure(value, words, "n/m");
}

/** Money where there is a price, else tokens, else time. */
function shortCost({ seconds, tokens, money }: NonNullable<Week["metrics"]["cost"]>): string {
  if (money !== null) return money.toFixed(2);
  if (tokens === null) return `${seconds.toFixed(1)} s`;
  return tokens < 1e6 ? `${Math.round(tokens / 1000)}k tok` : `${(tokens / 1e6).toFixed(1)}M tok`;
}

function pad(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - columns(text))) + text;
}
