import { Argument, type Command, Option } from "commander";
import { usageError } from "../../core/errors.ts";
import type { AddOptions } from "../../course/scoreboard/add.ts";
import {
  addWeek,
  MAX_WEEKS,
  readWeeks,
  reviewWeeks,
  SKILLS,
  writeTrends,
} from "../../course/scoreboard/index.ts";
import { requireWorkspace } from "../../course/workspace.ts";
import { type Format, fromZero, repeated, wholeNumber } from "../options.ts";
import { weekBlock } from "../scoreboard-block.ts";
import { showAdded, showBoard, showMatrix } from "../scoreboard-text.ts";
import { out, printableJson } from "../terminal.ts";

/** Given on the command line in other words, or not at all. */
type Renamed = "dir" | "cwd" | "failures" | "fixes" | "skills" | "trainings" | "rollouts";

interface Flags extends Partial<Omit<AddOptions, Renamed>> {
  readonly failure?: string[];
  readonly fix?: string[];
  readonly skill?: string[];
  readonly train?: string[];
  readonly rollout?: string[];
  readonly skills?: boolean;
  readonly text?: boolean;
  readonly format?: Format;
}

/** The flags of `show`; the others are of `add`. A flag of the other action is an error. */
const SHOW: readonly string[] = ["skills", "text", "format"];
/** Flags of both. */
const BOTH: readonly string[] = ["week"];

export const help = `Skills: ${SKILLS.join(", ")}.

Examples:
  lockedroom scoreboard add --week 1 --run runs/second --baseline runs/first \\
    --build runs/second --theory notes/kl.md \\
    --failure "best-of-N was read as learning" --failure "dev set of 20 rows" \\
    --fix "the gate reports the knob" --skill math=2:notes/kl.md
  lockedroom scoreboard add --week 5 --run runs/after --baseline runs/before \\
    --train runs/grpo --price-per-hour 2.5 --rollout runs/samples
  lockedroom scoreboard show
  lockedroom scoreboard show --text --week 5
  lockedroom scoreboard show --skills`;

export function define(command: Command): void {
  command
    .description(
      "Adds a week to the scoreboard or prints it. Figures are computed from runs; skill scores need a link to a file or folder.",
    )
    .addArgument(
      new Argument("[action]", "add a week, or show all weeks")
        .choices(["add", "show"])
        .default("show"),
    )
    .option("--week <n>", "the week, 1 for days 1 to 7", wholeNumber(1, MAX_WEEKS))
    .option("--run <run>", "add: the run that gives the figures")
    .option("--baseline <run>", "add: the run that drift is measured against")
    .option("--train <run>", "add: a training of the week: KL, tokens and time", repeated)
    .option("--rollout <run>", "add: a rollout of the week: tokens, time and money", repeated)
    .option("--price-per-hour <x>", "add: price of the machine that trained", fromZero)
    .option("--build <path>", "add: the build that was shipped")
    .option("--theory <path>", "add: the theory compression that was shipped")
    .option("--eval <path>", "add: the evaluation or ablation that was shipped")
    .option("--blog <path>", "add: the post that was shipped")
    .option("--failure <text>", "add: a failure you found; two or more per week", repeated)
    .option("--fix <text>", "add: a validated fix; one or more per week", repeated)
    .option(
      "--skill <name=score:path>",
      "add: a score from 0 to 5, with a linked artifact",
      repeated,
    )
    .option("--force", "add: replace the week; the old one is kept")
    .option("--skills", "show: the meaning of each skill score")
    .option("--text", "show: one week as text to copy; the latest without --week")
    .addOption(
      new Option("--format <format>", "show: output format (default: text)").choices([
        "text",
        "json",
      ]),
    )
    .action(async (action: "add" | "show", flags: Flags) => {
      refuseForeignFlags(action, flags);
      if (flags.skills) return showMatrix();
      const dir = requireWorkspace(process.cwd());
      if (action === "add") return add(dir, flags);
      if (flags.text) return showText(dir, flags.week);
      refuseWeek(flags);
      return show(dir, flags.format ?? "text");
    });
}

function refuseForeignFlags(action: "add" | "show", flags: Flags): void {
  const other = action === "add" ? "show" : "add";
  const foreign = Object.keys(flags).find(
    (name) => !BOTH.includes(name) && SHOW.includes(name) === (other === "show"),
  );
  if (foreign === undefined) return;
  const flag = foreign.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw usageError(
    `--${flag} belongs to "scoreboard ${other}", and this is "scoreboard ${action}"`,
    `Write: ./lockedroom scoreboard ${other} --${flag} …`,
  );
}

async function add(dir: string, flags: Flags): Promise<void> {
  const { week, failure, fix, skill, train, rollout } = flags;
  if (week === undefined)
    throw usageError("--week is missing", "For example, --week 1 is days 1 to 7.");
  const links = { ...flags, week, failures: failure, fixes: fix, skills: skill };
  const parts = { trainings: train, rollouts: rollout };
  const added = await addWeek({ ...links, ...parts, dir, cwd: process.cwd() });
  const [review] = await reviewWeeks(dir, [added.week]);
  showAdded(added, review?.warnings ?? []);
}

async function show(dir: string, format: Format): Promise<void> {
  const weeks = await readWeeks(dir);
  const reviews = await reviewWeeks(dir, weeks);
  const charts = weeks.length === 0 ? [] : await writeTrends(dir, weeks);
  if (format === "json") {
    const warnings = reviews.flatMap(({ week, warnings: all }) =>
      all.map((warning) => ({ week, warning })),
    );
    out(printableJson({ weeks, warnings, charts }, 2));
  } else if (weeks.length === 0) showNone();
  else showBoard(weeks, reviews, charts);
}

function refuseWeek({ week }: Flags): void {
  if (week === undefined) return;
  throw usageError(
    "--week needs --text here",
    "Write: ./lockedroom scoreboard show --text --week N",
  );
}

/** The fields of one week, to copy into a post or a message. */
async function showText(dir: string, wanted: number | undefined): Promise<void> {
  const weeks = await readWeeks(dir);
  const week = wanted === undefined ? weeks.at(-1) : weeks.find((one) => one.week === wanted);
  if (week) {
    out(weekBlock(week));
    return;
  }
  if (weeks.length === 0) return showNone();
  throw usageError(
    `week ${wanted} was not added`,
    `Choose one of ${weeks.map((one) => one.week).join(", ")}.`,
  );
}

function showNone(): void {
  out("No weeks yet. Add the first one:");
  out("  ./lockedroom scoreboard add --week 1 --run runs/NAME");
}
