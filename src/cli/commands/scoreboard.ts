/** `lockedroom scoreboard` */

import { Argument, type Command, Option } from "commander";
import { usageError } from "../../core/errors.ts";
import { columns, visible } from "../../core/visible.ts";
import {
  addWeek,
  everyWeek,
  MOST_WEEKS,
  readWeeks,
  reviewWeek,
  SKILL_MATRIX,
  SKILLS,
  sparkline,
  type Week,
  writeTrends,
} from "../../course/scoreboard/index.ts";
import { requireWorkspace } from "../../course/workspace.ts";
import { wholeNumber } from "../options.ts";
import { out, paint, printableJson, wrap } from "../terminal.ts";

interface Flags {
  readonly week?: number;
  readonly run?: string;
  readonly baseline?: string;
  readonly build?: string;
  readonly theory?: string;
  readonly eval?: string;
  readonly blog?: string;
  readonly failure?: string[];
  readonly fix?: string[];
  readonly skill?: string[];
  readonly force?: boolean;
  readonly skills?: boolean;
  readonly format?: "text" | "json";
}

const several = (value: string, before: string[] = []) => [...before, value];

/** Which flags belong to which action; a flag of the other is a mistake worth a word. */
const FLAGS = {
  add: [
    "week",
    "run",
    "baseline",
    "build",
    "theory",
    "eval",
    "blog",
    "failure",
    "fix",
    "skill",
    "force",
  ],
  show: ["skills", "format"],
} as const;

export function define(command: Command): Command {
  return command
    .description(
      "The weekly scoreboard. Its figures are filled from runs and never typed; skill\nscores need a link to something that exists.",
    )
    .addArgument(
      new Argument("[action]", "add a week, or show them all")
        .choices(["add", "show"])
        .default("show"),
    )
    .option("--week <n>", "add: the week, 1 for days 1 to 7", wholeNumber(1, MOST_WEEKS))
    .option("--run <run>", "add: the run to take the figures from")
    .option("--baseline <run>", "add: the run that drift is measured against")
    .option("--build <path>", "add: the build that was shipped")
    .option("--theory <path>", "add: the theory compression that was shipped")
    .option("--eval <path>", "add: the evaluation or ablation that was shipped")
    .option("--blog <path>", "add: the post that was shipped")
    .option("--failure <text>", "add: a failure discovered; two a week or more", several)
    .option("--fix <text>", "add: a fix validated; one a week or more", several)
    .option("--skill <name=score:path>", "add: a score from 0 to 5 and what shows it", several)
    .option("--force", "add: write the week anew; the old one is kept")
    .option("--skills", "show: what each score of each skill means")
    .addOption(
      new Option("--format <format>", "show: how to print (default: text)").choices([
        "text",
        "json",
      ]),
    )
    .addHelpText(
      "after",
      `
Skills: ${SKILLS.join(", ")}.

Examples:
  lockedroom scoreboard add --week 1 --run runs/second --baseline runs/first \\
    --build runs/second --theory notes/kl.md \\
    --failure "best-of-N was read as learning" --failure "dev set of 20 rows" \\
    --fix "the gate names the knob now" --skill math=2:notes/kl.md
  lockedroom scoreboard show
  lockedroom scoreboard show --skills`,
    )
    .action(async (action: "add" | "show", flags: Flags) => {
      refuseForeignFlags(action, flags);
      if (flags.skills) return showMatrix();
      const dir = requireWorkspace(process.cwd());
      if (action === "add") return add(dir, flags);
      return show(dir, flags.format ?? "text");
    });
}

function refuseForeignFlags(action: "add" | "show", flags: Flags): void {
  const other = action === "add" ? "show" : "add";
  const foreign = FLAGS[other].find((name) => flags[name] !== undefined);
  if (foreign === undefined) return;
  throw usageError(
    `--${foreign} belongs to "scoreboard ${other}", and this is "scoreboard ${action}"`,
    `Write: ./lockedroom scoreboard ${other} --${foreign} …`,
  );
}

async function add(dir: string, flags: Flags): Promise<void> {
  const { week, failure, fix, skill } = flags;
  if (week === undefined)
    throw usageError("--week is not given", "Say which: --week 1 is days 1 to 7.");
  const links = { ...flags, week, failures: failure, fixes: fix, skills: skill };
  const added = await addWeek({ ...links, dir, cwd: process.cwd() });
  const {
    success,
    format_drift: drift,
    hallucination_proxy: proxy,
    mean_length: length,
  } = added.week.metrics;
  out(`Week ${week}, days ${added.week.days[0]}–${added.week.days[1]}`);
  const rows: [string, string][] = [
    ["main task success", figure(success, (x) => x.toFixed(4))],
    ["format drift", figure(drift, signed)],
    ["hallucination proxy", figure(proxy, (x) => x.toFixed(4))],
    ["mean output length", figure(length, (x) => `${x.toFixed(1)} characters`)],
    ["KL to the reference", klWords(added.week)],
    ["cost", figure(added.week.metrics.cost, costWords)],
  ];
  for (const [label, value] of rows) out(`  ${label.padEnd(20)} ${value}`);
  for (const warning of await reviewWeek(dir, added.week)) out(warn(week, warning));
  if (added.kept) out(`The week that was there is kept as ${added.kept}.`);
  out(wrap(`Written to ${added.file}. Commit it: git add ${added.file}`));
}

async function show(dir: string, format: "text" | "json"): Promise<void> {
  const weeks = await readWeeks(dir);
  if (weeks.length === 0) {
    if (format === "json") out(printableJson({ weeks, warnings: [], charts: [] }, 2));
    else showNone();
    return;
  }
  const warnings: { week: number; warning: string }[] = [];
  for (const week of weeks)
    for (const warning of await reviewWeek(dir, week)) warnings.push({ week: week.week, warning });
  const charts = await writeTrends(dir, weeks);
  if (format === "json") {
    out(printableJson({ weeks, warnings, charts }, 2));
    return;
  }
  showTable(weeks);
  showSkills(weeks);
  showSparklines(weeks);
  out();
  for (const { week, warning } of warnings) out(warn(week, warning));
  out(`Charts written to ${charts.join(" and ")}`);
}

function showNone(): void {
  out("No week yet.");
  out(
    wrap(
      "Add the first with the run that you would show to somebody: ./lockedroom scoreboard add --week 1 --run runs/NAME",
      "  ",
    ),
  );
}

const NOT_MEASURED = "n/m";

function showTable(weeks: readonly Week[]): void {
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => pad(cell, WIDTHS[i] ?? 0))
      .join("  ")
      .trimEnd();
  out(
    paint(
      "bold",
      line(["week", "days", "B T E P", "success", "drift", "halluc", "length", "KL", "cost"]),
    ),
  );
  for (const { week, days, shipped, metrics } of weeks) {
    const { build, theory, eval: evaluation, blog } = shipped;
    const letters = [build, theory, evaluation, blog].map((link) => (link === null ? "N" : "Y"));
    out(
      line([
        String(week),
        `${days[0]}–${days[1]}`,
        letters.join(" "),
        short(metrics.success, (x) => x.toFixed(4)),
        short(metrics.format_drift, signed),
        short(metrics.hallucination_proxy, (x) => x.toFixed(4)),
        short(metrics.mean_length, (x) => x.toFixed(1)),
        short(metrics.kl, ({ value }) => compact(value)),
        short(metrics.cost, costWords),
      ]),
    );
  }
  out("Y shipped, N not: Build, Theory, Evaluation, Post.  n/m not measured");
}

const WIDTHS = [4, 7, 7, 7, 7, 6, 7, 8, 10];

function showSkills(weeks: readonly Week[]): void {
  if (weeks.every(({ skills }) => Object.keys(skills).length === 0)) return;
  out();
  out(paint("bold", `week  ${SKILLS.join("  ")}`));
  for (const { week, skills } of weeks) {
    const cells = SKILLS.map((name) => pad(String(skills[name]?.score ?? "–"), name.length));
    out(`${pad(String(week), 4)}  ${cells.join("  ")}`);
  }
}

const MOST_SPARKS = 48;

/** With one week there is no trend to see. */
function showSparklines(weeks: readonly Week[]): void {
  if (weeks.length < 2) return;
  const trends: [string, (week: Week) => number | null][] = [
    ["success", ({ metrics }) => metrics.success],
    ["drift", ({ metrics }) => metrics.format_drift],
    ["length", ({ metrics }) => metrics.mean_length],
    ["KL", ({ metrics }) => metrics.kl?.value ?? null],
  ];
  out();
  for (const [label, of] of trends) {
    const values = everyWeek(weeks).map(({ week }) => (week ? of(week) : null));
    const measured = values.filter((value) => value !== null);
    const [first, last] = [measured[0], measured.at(-1)];
    const ends =
      first === undefined || last === undefined
        ? "not measured"
        : `${compact(first)} → ${compact(last)}`;
    out(`${label.padEnd(8)} ${sparkline(values.slice(-MOST_SPARKS))}  ${ends}`);
  }
}

function showMatrix(): void {
  for (const name of SKILLS) {
    out(paint("bold", name));
    for (const [score, meaning] of SKILL_MATRIX[name].entries()) out(`  ${score}  ${meaning}`);
  }
}

function warn(week: number, warning: string): string {
  return paint("yellow", wrap(`! week ${week}: ${visible(warning)}`));
}

function figure<T>(value: T | null, words: (value: T) => string): string {
  return value === null ? "not measured" : words(value);
}

function short<T>(value: T | null, words: (value: T) => string): string {
  return value === null ? NOT_MEASURED : words(value);
}

function klWords({ metrics: { kl } }: Week): string {
  return figure(kl, ({ value, from }) => `${compact(value)} nats, ${from}`);
}

function costWords({ value, unit }: NonNullable<Week["metrics"]["cost"]>): string {
  if (unit === "usd") return `$${value.toFixed(2)}`;
  return unit === "tokens" ? `${Math.round(value)} tok` : `${value.toFixed(1)} s`;
}

function signed(value: number): string {
  return `${value < 0 ? "" : "+"}${value.toFixed(4)}`;
}

function compact(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function pad(text: string, width: number): string {
  return " ".repeat(Math.max(0, width - columns(text))) + text;
}
