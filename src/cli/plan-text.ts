/** Prints the plan: phases, criteria, the week and the activity. */

import { visible } from "../core/visible.ts";
import {
  type Advance,
  type ChangedEvidence,
  type CriterionStatus,
  type DayMark,
  DONE,
  type Evidence,
  LAST_DAY,
  PHASES,
  type PhaseStatus,
  PLAN_FILE,
  type PlanStatus,
  REPRODUCTION,
  type Reproduction,
  type Stage,
} from "../course/plan/index.ts";
import {
  commandLines,
  counted,
  hanging,
  out,
  paint,
  percent,
  print,
  warning,
  wrap,
} from "./terminal.ts";

export function showPlan(status: PlanStatus): void {
  showHeading(status);
  for (const phase of status.phases) showPhase(phase, status);
  if (status.changed_evidence.length > 0) showChanged(status.changed_evidence);
  showWeek(status);
  showActivity(status);
  showToCome(status);
}

/** Which phases need commands that a later version will have. */
function showToCome({ to_come: toCome }: PlanStatus): void {
  if (toCome.length === 0) return;
  const phases = toCome.map(({ phase, commands }) => `${commands.join(", ")} (phase ${phase})`);
  out();
  print(`Tools still to come: ${phases.join(", ")}.`);
}

export function showReproduction({ steps, runs, problems }: Reproduction): void {
  for (const problem of problems) out(warning(visible(problem), ""));
  if (problems.length > 0) {
    print(`The case study was not reproduced; ${REPRODUCTION} is as it was.`);
    return;
  }
  print(
    `${counted(steps, "step")} in a clean folder made ${counted(runs.length, "run")} again with the same figures: ${runs.map(visible).join(", ")}.`,
  );
  print(`Recorded in ${REPRODUCTION}. Commit it: git add ${REPRODUCTION}`);
}

/** No commit is older than git. */
const BEFORE_GIT = "2005-04-07";

function showHeading({ day, week, phase, days_late: late, start, today: now }: PlanStatus): void {
  const current = PHASES[phase];
  const where = current ? `phase ${phase}: ${current.title}` : "every phase is passed";
  out(paint("bold", wrap(`Day ${day} of ${LAST_DAY}, week ${week.week}, ${where}`)));
  if (start > now)
    print(`The first commit is dated ${start}, after today, ${now}. Check the clock.`);
  else if (start < BEFORE_GIT) out(`The first commit is dated ${start}. Check the clock.`);
  if (current && late > 0) {
    const days = `${counted(late, "day")} late`;
    const text = `Day ${day} of phase ${phase}, ${days}: it ends on day ${current.last}. Finish it before you go on.`;
    out(paint("yellow", wrap(text)));
  }
}

/** An open phase lies ahead, and nothing can be done in those before it with this version. */
type Shown = PhaseStatus["state"] | "open";

/** Whether every criterion of the phases before it is met, or waits for a tool. */
function isOpen(phase: number, { phases }: PlanStatus): boolean {
  const before = phases.filter((one) => one.phase < phase);
  return before.every(({ criteria }) => criteria.every(({ status }) => status !== "missing"));
}

function showPhase(
  { phase, first, last, state: given, criteria, title }: PhaseStatus,
  all: PlanStatus,
) {
  const count = criteria.filter(({ status }) => status === "met").length;
  const days = `days ${first}–${last}`.padEnd(12);
  const tally = `${count} of ${criteria.length} met`;
  out();
  out(`${paint("bold", `Phase ${phase}`)}  ${days} ${given.padEnd(8)} ${tally}`);
  const state = given === "ahead" && isOpen(phase, all) ? "open" : given;
  if (phase !== all.phase) print(title, "  ");
  // A passed phase whose criteria are still met needs no details.
  if (state === "passed" && count === criteria.length) return;
  for (const criterion of criteria) showCriterion(criterion, state);
  const later = state === "ahead" ? notYet(criteria) : "";
  if (later !== "") out(paint("gray", wrap(`(${MARKS.no_tool_yet} ${later})`, "  ")));
  if (state === "current" && count === criteria.length)
    print("Every criterion is met. Go to the next phase: ./lockedroom plan advance", "  ");
}

const MARKS = { met: "✓", missing: "✗", no_tool_yet: "–", not_checked_yet: "–" } as const;
const COLOURS: Readonly<Record<CriterionStatus["status"], "green" | "red" | "gray">> = {
  met: "green",
  missing: "red",
  no_tool_yet: "gray",
  not_checked_yet: "gray",
};

/** All details for the current phase and an open one; one line for later phases. */
function showCriterion(criterion: CriterionStatus, state: Shown): void {
  const { status, title } = criterion;
  const ahead = state === "ahead";
  const mark = paint(ahead && status !== "met" ? "gray" : COLOURS[status], MARKS[status]);
  out(behind(mark, title));
  if (ahead) return;
  if (criterion.status === "met") {
    if (state !== "passed") showEvidence(criterion.evidence);
  } else if (criterion.status === "missing") {
    detail("expected", criterion.expected);
    detail("found", visible(criterion.found));
    detail("next", criterion.next);
    if (criterion.command) out(commandToCopy(criterion.command, " ".repeat(15)));
  } else print(notYet([criterion]), "      ");
}

/** The first piece of evidence; the others are in the JSON output. */
function showEvidence([first, ...more]: readonly Evidence[]): void {
  if (!first) return;
  const others = more.length === 0 ? "" : ` (and ${counted(more.length, "more file")})`;
  print(`${visible(first.path)}: ${visible(first.figure)}${others}`, "      ");
}

/** Why these criteria cannot be met with this version; empty when they can. */
function notYet(criteria: readonly CriterionStatus[]): string {
  const lacking = criteria.flatMap((one) => (one.status === "no_tool_yet" ? one.commands : []));
  const tools = [...new Set(lacking)].map((name) => `lockedroom ${name}`).join(", ");
  const unchecked = criteria.some(({ status }) => status === "not_checked_yet");
  return [
    ...(tools === "" ? [] : [`no tool yet: ${tools}`]),
    ...(unchecked ? ["this version cannot check it yet"] : []),
  ].join("; ");
}

function behind(mark: string, text: string): string {
  return hanging(`  ${mark} `, text, 4);
}

function detail(label: string, text: string): void {
  out(hanging(`      ${label.padEnd(9)}`, text));
}

/** Breaks only before flags. */
function commandToCopy(command: string, indent: string): string {
  const [start = "", ...flags] = command.split(/ (?=--)/);
  return commandLines(start, flags, indent);
}

function showChanged(changed: readonly ChangedEvidence[]): void {
  out();
  out(paint("yellow", "Evidence that changed after you advanced"));
  for (const { phase, criterion, path, problem } of changed)
    print(`${visible(path)} ${problem} (phase ${phase}, ${criterion})`, "  ");
  print(
    "The record stays. If a criterion above is no longer met, restore the file: git checkout COMMIT -- FILE",
    "  ",
  );
}

const STAGE_TITLES: Readonly<Record<Stage, string>> = {
  learn: "theory compression",
  build: "end-to-end deliverable",
  evaluate: "evaluation or ablation",
  write: "blog post",
  review: "failures, fixes, curves",
};

/** The loop of the week: what each stage has to show, and the stage where it stands. */
function showWeek({ week }: PlanStatus): void {
  const { stages, at } = week.loop;
  out();
  const heading = paint("bold", `Week ${week.week}`);
  out(`${heading}  days ${week.first}–${week.last}, from commits`);
  const names = stages.map(({ stage }) => (stage === at ? paint("bold", `[${stage}]`) : stage));
  out(`  ${names.join(" → ")} → ${stages[0]?.stage}`);
  for (const { stage, evidence, next, remarks } of stages) {
    const done = evidence.length > 0;
    const mark = done ? paint("green", "✓") : paint("red", "✗");
    const more = evidence.length > 3 ? ` and ${evidence.length - 3} more` : "";
    const what = done ? `${evidence.slice(0, 3).map(visible).join(", ")}${more}` : next;
    out(behind(mark, `${stage} (${STAGE_TITLES[stage]}): ${what}`));
    for (const remark of remarks) out(behind(paint("yellow", "!"), visible(remark)));
  }
  if (at === null) out("  Every stage has its evidence this week. Begin again with learn.");
}

const SQUARES: Record<DayMark, string> = { before: " ", none: "·", commit: "▪", full: "■" };

function showActivity({ activity }: PlanStatus): void {
  const { streak, longest, full_days: full, long_days: long, days, calendar } = activity;
  const row = `${counted(streak, "day")} in a row with a commit (longest ${longest})`;
  out();
  print(`Streak: ${row}. Full days: ${full} of ${days} (${percent(full / days)}).`);
  if (long > 0)
    print(
      `On ${counted(long, "full day")} more than 600 words were written; 200 to 600 are asked for.`,
    );
  const squares = calendar.map(({ mark }) => SQUARES[mark]).join("");
  const weeks = squares.match(/.{7}/gu)?.join(" ") ?? "";
  out(`  ${calendar[0]?.date}  ${weeks}  ${calendar.at(-1)?.date}`);
  out("  · none   ▪ commit   ■ commit, write-up of 200 to 600 words, artifact");
}

export function showAdvance({ status, left, missing }: Advance): void {
  if (status.phase === DONE) {
    out("Every phase is passed.");
    return;
  }
  if (left !== undefined) {
    const next = PHASES[left + 1];
    const then = next ? `Now phase ${next.phase}: ${next.title}.` : "That was the last one.";
    print(`Phase ${left} is passed. ${then}`);
    print(
      `Recorded in ${PLAN_FILE}. Commit it: git add ${PLAN_FILE} && git commit -m "Phase ${left}"`,
    );
    return;
  }
  out(paint("bold", `Phase ${status.phase} is not finished. Missing:`));
  for (const { phase, criterion } of missing) {
    const earlier = phase < status.phase ? ` (phase ${phase}, passed before)` : "";
    const mark = paint(COLOURS[criterion.status], MARKS[criterion.status]);
    out(behind(mark, criterion.title + earlier));
    if (criterion.status !== "missing") {
      print(notYet([criterion]), "    ");
      continue;
    }
    print(`${visible(criterion.found).replace(/\.$/, "")}. ${criterion.next}`, "    ");
    if (criterion.command) out(commandToCopy(criterion.command, "      "));
  }
  if (missing.every(({ criterion }) => notYet([criterion]) !== ""))
    print("None of these can be done with this version.");
}
