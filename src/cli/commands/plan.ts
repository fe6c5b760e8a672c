/** `lockedroom plan` */

import { Argument, type Command, Option } from "commander";
import { usageError } from "../../core/errors.ts";
import { visible } from "../../core/visible.ts";
import {
  type Advance,
  advancePlan,
  DONE,
  type Drifted,
  isDay,
  LAST_DAY,
  type LookedAt,
  localDay,
  type Mark,
  PHASES,
  type PhaseStatus,
  PLAN_FILE,
  type PlanStatus,
  planStatus,
} from "../../course/plan/index.ts";
import { requireWorkspace } from "../../course/workspace.ts";
import { out, paint, percent, printableJson, WIDTH, wrap } from "../terminal.ts";

interface Flags {
  readonly format: "text" | "json";
}

/** As it is at the gate: a verdict that says no. */
const REFUSED = 1;

export function define(command: Command, exit: (code: number) => void): Command {
  return command
    .description(
      "The 120-day plan of this workspace: phases, exit criteria with their evidence,\nthis week's deliverables and your streak, all read from files and from git.",
    )
    .addArgument(
      new Argument("[action]", "advance: leave the phase, if its exit holds").choices(["advance"]),
    )
    .addOption(
      new Option("--format <format>", "how to print it").choices(["text", "json"]).default("text"),
    )
    .addHelpText(
      "after",
      `
Day 1 is the day of the first commit. Each criterion is one of
  ✓  met: the evidence is named, and looked at again every time
  ✗  missing: what was expected, what was found, and the next step
  –  no tool yet: this version lacks the command that it needs

"plan advance" exits with 1 and says what is missing until everything holds;
then it is recorded in ${PLAN_FILE}, with the hash of each piece of evidence.

Examples:
  lockedroom plan
  lockedroom plan --format json
  lockedroom plan advance`,
    )
    .action(async (action: "advance" | undefined, flags: Flags) => {
      const options = {
        dir: requireWorkspace(process.cwd()),
        today: today(),
        commands: (command.parent?.commands ?? []).map((one) => one.name()),
      };
      const json = flags.format === "json";
      if (action === undefined) {
        const status = await planStatus(options);
        if (json) out(printableJson(status, 2));
        else show(status);
        return;
      }
      const advance = await advancePlan(options);
      if (json) out(printableJson(advance, 2));
      else showAdvance(advance);
      exit(advance.missing.length > 0 ? REFUSED : 0);
    });
}

/** The local date; tests say theirs. */
function today(): string {
  const told = process.env.LOCKEDROOM_TODAY;
  if (!told) return localDay(new Date());
  if (isDay(told)) return told;
  throw usageError(
    `LOCKEDROOM_TODAY is ${JSON.stringify(told)}, which is no date`,
    "Write it as 2026-11-15, or unset it to use the clock.",
  );
}

function show(status: PlanStatus): void {
  showHeading(status);
  for (const phase of status.phases) showPhase(phase, status);
  if (status.drifted.length > 0) showDrifted(status.drifted);
  showWeek(status);
  showRhythm(status);
}

function showHeading({ day, week, phase, days_late: late, start, today: now }: PlanStatus): void {
  const current = PHASES[phase];
  const where = current ? `phase ${phase}: ${current.title}` : "every phase is behind you";
  out(paint("bold", wrap(`Day ${day} of ${LAST_DAY}, week ${week.week}, ${where}`)));
  if (start > now)
    out(wrap(`The first commit is dated ${start}, after today, ${now}. Check the clock.`));
  if (current && late > 0) {
    const days = `${late} ${late === 1 ? "day" : "days"} late`;
    const text = `Day ${day} of phase ${phase}, ${days}: it ends on day ${current.last}. Fix before you go on.`;
    out(paint("yellow", wrap(text)));
  }
}

function showPhase({ phase, first, last, state, criteria, title }: PhaseStatus, all: PlanStatus) {
  const count = criteria.filter(({ status }) => status === "met").length;
  const days = `days ${first}–${last}`.padEnd(12);
  const tally = `${count} of ${criteria.length} met`;
  out();
  out(`${paint("bold", `Phase ${phase}`)}  ${days} ${state.padEnd(8)} ${tally}`);
  if (phase !== all.phase) out(wrap(title, "  "));
  for (const criterion of criteria) showCriterion(criterion, state);
  if (state === "current" && count === criteria.length)
    out(wrap("The exit holds. Leave the phase: ./lockedroom plan advance", "  "));
}

const MARKS = { met: "✓", missing: "✗", no_tool_yet: "–" } as const;
const COLOURS = { met: "green", missing: "red", no_tool_yet: "gray" } as const;

/** All of it for the phase at hand; a line for phases that are ahead, and for what holds behind. */
function showCriterion(criterion: LookedAt, state: PhaseStatus["state"]): void {
  const { status, title } = criterion;
  const mark = paint(COLOURS[status], MARKS[status]);
  const tool =
    criterion.status === "no_tool_yet" ? ` (no tool yet: ${needed(criterion.commands)})` : "";
  out(behind(mark, title + tool));
  if (criterion.status === "met" && state === "current") {
    for (const { path, figure } of criterion.evidence)
      out(wrap(`${visible(path)}: ${visible(figure)}`, "      "));
  }
  if (criterion.status === "missing" && state !== "ahead") {
    detail("expected", criterion.expected);
    detail("found", visible(criterion.found));
    detail("next", criterion.next);
    if (criterion.command) out(commandLines(criterion.command, " ".repeat(15)));
  }
}

const needed = (commands: readonly string[]) =>
  commands.map((name) => `lockedroom ${name}`).join(", ");

/** The mark, then the text with its further lines below its first. */
function behind(mark: string, text: string): string {
  return `  ${mark} ${wrap(text, "    ").trimStart()}`;
}

function detail(label: string, text: string): void {
  const lines = wrap(text, " ".repeat(15)).trimStart();
  out(`      ${label.padEnd(9)}${lines}`);
}

/** A command that can be copied: it breaks before flags, with the shell's mark for more to come. */
function commandLines(command: string, indent: string): string {
  const lines: string[] = [];
  for (const part of command.split(/ (?=--)/)) {
    const longer = `${lines.at(-1)} ${part}`;
    const room = WIDTH - indent.length - " \\".length;
    if (lines.length > 0 && longer.length <= room) lines[lines.length - 1] = longer;
    else lines.push(lines.length === 0 ? part : `  ${part}`);
  }
  return lines.map((line) => indent + line).join(" \\\n");
}

function showDrifted(drifted: readonly Drifted[]): void {
  out();
  out(paint("yellow", "Evidence that is no longer what it was when you advanced"));
  for (const { phase, criterion, path, problem } of drifted)
    out(wrap(`${visible(path)} ${problem} (phase ${phase}, ${criterion})`, "  "));
  out(
    wrap(
      "The record stays. Where the criterion above still holds, nothing is lost; where not, bring the file back: git checkout COMMIT -- FILE",
      "  ",
    ),
  );
}

const DELIVERABLES = {
  build: "build, end to end",
  theory: "theory compression",
  evaluation: "evaluation or ablation",
  blog: "blog post",
} as const;

function showWeek({ week }: PlanStatus): void {
  out();
  const heading = paint("bold", `Week ${week.week}`);
  out(`${heading}  days ${week.first}–${week.last}, from commits`);
  for (const { id, shipped, next } of week.deliverables) {
    const done = shipped.length > 0;
    const mark = done ? paint("green", "✓") : paint("red", "✗");
    const more = shipped.length > 3 ? ` and ${shipped.length - 3} more` : "";
    const what = done ? `${shipped.slice(0, 3).map(visible).join(", ")}${more}` : next;
    out(behind(mark, `${DELIVERABLES[id]}: ${what}`));
  }
}

const SQUARES: Record<Mark, string> = { before: " ", none: "·", commit: "▪", full: "■" };

function showRhythm({ rhythm }: PlanStatus): void {
  const { streak, longest, full_days: full, days, calendar } = rhythm;
  const row = `${streak} ${streak === 1 ? "day" : "days"} in a row with a commit (longest ${longest})`;
  out();
  out(wrap(`Streak: ${row}. Full days: ${full} of ${days} (${percent(full / days)}).`));
  const squares = calendar.map(({ mark }) => SQUARES[mark]).join("");
  const weeks = squares.match(/.{7}/gu)?.join(" ") ?? "";
  out(`  ${calendar[0]?.date}  ${weeks}  ${calendar.at(-1)?.date}`);
  out("  · none   ▪ commit   ■ commit, write-up of 200 words and an artifact");
}

function showAdvance({ status, left, missing }: Advance): void {
  if (status.phase === DONE) {
    out("Every phase is behind you; there is none to leave.");
    return;
  }
  if (left !== undefined) {
    const next = PHASES[left + 1];
    const then = next ? `Now phase ${next.phase}: ${next.title}.` : "That was the last one.";
    out(wrap(`Phase ${left} is behind you. ${then}`));
    out(
      wrap(
        `Recorded in ${PLAN_FILE}. Commit it: git add ${PLAN_FILE} && git commit -m "Phase ${left}"`,
      ),
    );
    return;
  }
  out(paint("bold", `Phase ${status.phase} stays open; this is missing:`));
  for (const { phase, criterion } of missing) {
    const { status: found, title } = criterion;
    const earlier = phase < status.phase ? ` (phase ${phase}, which you had left)` : "";
    const next =
      criterion.status === "missing"
        ? `${visible(criterion.found)}. ${criterion.next}`
        : criterion.status === "no_tool_yet"
          ? `no tool yet: this version has no ${needed(criterion.commands)}`
          : "";
    out(behind(paint(COLOURS[found], MARKS[found]), `${title}${earlier}: ${next}`));
    if (criterion.status === "missing" && criterion.command)
      out(commandLines(criterion.command, "      "));
  }
}
