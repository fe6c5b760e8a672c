/** `lockedroom scoreboard` */

import { Argument, type Command, Option } from "commander";
import { usageError } from "../../core/errors.ts";
import {
  addWeek,
  MAX_WEEKS,
  readWeeks,
  reviewWeeks,
  SKILLS,
  writeTrends,
} from "../../course/scoreboard/index.ts";
import { requireWorkspace } from "../../course/workspace.ts";
import { wholeNumber } from "../options.ts";
import { showAdded, showBoard, showMatrix } from "../scoreboard-text.ts";
import { out, printableJson } from "../terminal.ts";

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
    .option("--week <n>", "add: the week, 1 for days 1 to 7", wholeNumber(1, MAX_WEEKS))
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
  const [review] = await reviewWeeks(dir, [added.week]);
  showAdded(added, review?.warnings ?? []);
}

async function show(dir: string, format: "text" | "json"): Promise<void> {
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

function showNone(): void {
  out("No week yet. Add the first with a run that you would show to somebody:");
  out("  ./lockedroom scoreboard add --week 1 --run runs/NAME");
}
