/** `lockedroom env`: the environments, what they are, a game at the terminal, and their checks. */

import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { Argument, type Command, Option } from "commander";
import { SPLITS, type Split } from "../../core/environment.ts";
import { usageError } from "../../core/errors.ts";
import { canonicalJson, type Json } from "../../core/json.ts";
import type { Example } from "../../core/records.ts";
import { visible } from "../../core/visible.ts";
import { type AnyDefinition, EMBEDDED } from "../../environments/catalogue.ts";
import { checkEnvironment, type Finding } from "../../environments/check.ts";
import { OUT_OF_TURNS } from "../../environments/definition.ts";
import { episodeSeed } from "../../environments/episode.ts";
import { type OpenedEnvironment, openEnvironment } from "../../environments/open.ts";
import { serveEnvironment } from "../../openenv/server.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { onBug } from "../on-bug.ts";
import { FORMAT, type Format, SEED, wholeNumber } from "../options.ts";
import { counted, hanging, out, paint, print, printableJson, program } from "../terminal.ts";

interface Flags {
  readonly format: Format;
  readonly split: Split;
  readonly task?: string;
  readonly tasks: number;
  readonly seed: number;
  readonly port: number;
  readonly maxSessions: number;
  readonly outdir?: string;
}

export const help = `An environment is a task that is played over turns: an embedded one by its
name, or a TypeScript file of your own.

Exit codes:
  0  done, or every check passed             1  a check failed
  64 wrong usage    65 bad data

Examples:
  lockedroom env list
  lockedroom env show twenty48
  lockedroom env tasks twenty48 --outdir tasks/twenty48
  lockedroom env play twenty48 --seed 3
  lockedroom env check tool-calls
  lockedroom env check my-game.ts --format json
  lockedroom env serve twenty48 --port 8000`;

const ACTIONS = ["list", "show", "tasks", "play", "check", "serve"] as const;
type Action = (typeof ACTIONS)[number];

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Lists, shows, checks and serves environments, and lets you play one. A check needs no model: two scripted players show that the reward means something.",
    )
    .addArgument(
      new Argument("<action>", "list, show, tasks, play, check or serve").choices(ACTIONS),
    )
    .argument("[environment]", "a name of the list, or a .ts or .js file")
    .addOption(
      new Option("--split <split>", "split of the task to play").choices(SPLITS).default("dev"),
    )
    .option("--task <id>", "the task to play (default: the first)")
    .option("--tasks <n>", "tasks of each split to check", wholeNumber(1, 100_000), 8)
    .option(...SEED)
    .option(
      "--port <n>",
      "to serve: port on 127.0.0.1; 0 for a free one",
      wholeNumber(0, 65_535),
      8000,
    )
    .option("--max-sessions <n>", "to serve: sockets open at once", wholeNumber(1, 10_000), 64)
    .option("--outdir <folder>", "for tasks: folder for train.jsonl, dev.jsonl and holdout.jsonl")
    .addOption(FORMAT)
    .action(async (action: Action, name: string | undefined, flags: Flags) => {
      if (action === "list") return list(flags);
      if (name === undefined) {
        throw usageError(`env ${action} needs an environment`, "See env list for their names.");
      }
      const opened = await openEnvironment(name);
      if (action === "show") show(opened, flags);
      if (action === "tasks") await writeTasks(opened.definition, flags);
      if (action === "play") await play(opened.definition, flags);
      if (action === "check") exit(check(opened, flags) ? 0 : 1);
      if (action === "serve") await serve(opened, flags);
    });
}

function list({ format }: Flags): void {
  const all = [...EMBEDDED.values()].map(({ definition }) => definition);
  if (format === "json") {
    const names = all.map(({ name, version, spec }) => ({ name, version, spec }));
    out(printableJson(names, 2));
    return;
  }
  const width = Math.max(...all.map(({ name }) => name.length)) + 2;
  for (const { name, spec } of all)
    out(hanging(`  ${name}`.padEnd(width + 2), firstSentence(spec)));
  out();
  print(`More about one: ${program()} env show NAME`);
}

function firstSentence(text: string): string {
  return text.split(/(?<=[.!?]) /)[0] as string;
}

function show({ definition, identity }: OpenedEnvironment, { format }: Flags): void {
  const { codes, solved, rewards, maxTurns, random, tools = [] } = definition;
  const tasks = Object.fromEntries(SPLITS.map((split) => [split, definition.tasks(split).length]));
  if (format === "json") {
    const found = {
      ...identity,
      codes,
      solved,
      rewards,
      max_turns: maxTurns,
      random,
      tasks,
      tools,
    };
    out(printableJson(found, 2));
    return;
  }
  out(paint("bold", `${visible(identity.name)} ${visible(identity.version)}`));
  print(visible(identity.spec), "  ");
  out();
  const line = (label: string, text: string) => out(hanging(`  ${label.padEnd(10)}`, text));
  line("tasks", SPLITS.map((split) => `${tasks[split]} ${split}`).join(", "));
  line("turns", `at most ${maxTurns}`);
  line("reward", rewards ? `${rewards[0]} to ${rewards[1]}` : "none of its own");
  line("random", random ? "episodes of a task differ by their seed" : "no");
  line(
    "codes",
    codes.map((code) => (solved.includes(code) ? `${code} (solved)` : code)).join(", "),
  );
  for (const { name, description } of tools) line("tool", `${name}: ${description}`);
  line("source", identity.source_sha256);
  const [task] = definition.tasks("dev");
  if (!task) return;
  out();
  out("  The first dev task, as a policy reads it:");
  out();
  printObservation(definition.reset(task, episodeSeed(0, task)).observation);
}

/** Each split as a data set, which rollouts and training take. */
async function writeTasks(definition: AnyDefinition, { outdir }: Flags): Promise<void> {
  if (outdir === undefined) throw usageError("env tasks needs --outdir FOLDER", "Add it.");
  for (const split of SPLITS) {
    const tasks = definition.tasks(split);
    const file = path.join(outdir, `${split}.jsonl`);
    await writeWhole(file, tasks.map((task) => `${canonicalJson(task as Json)}\n`).join(""));
    print(`Wrote ${visible(file)}, ${counted(tasks.length, "task")}`);
  }
}

function printObservation(messages: readonly { role: string; content: string }[]): void {
  for (const { role, content } of messages) {
    for (const line of content.trimEnd().split("\n")) out(`  ${role}> ${visible(line)}`);
  }
}

function check(
  { definition, identity }: OpenedEnvironment,
  { tasks, seed, format }: Flags,
): boolean {
  const findings = checkEnvironment(definition, { tasks, seed });
  const passed = findings.every((one) => one.passed !== false);
  if (format === "json") {
    out(printableJson({ environment: identity, passed, findings }, 2));
    return passed;
  }
  for (const finding of findings) printFinding(finding);
  out();
  out(
    passed
      ? paint("green", "SOUND")
      : paint(
          "red",
          "NOT SOUND: a policy that learns from these rewards may learn something else.",
        ),
  );
  return passed;
}

function printFinding({ id, passed, says }: Finding): void {
  const mark = passed === null ? "--  " : passed ? "ok  " : paint("red", "FAIL");
  out(`${mark}  ${id}`);
  print(says, "      ");
}

/** Until it is stopped; the first line is the URL alone, for programs that start a server. */
async function serve(environment: OpenedEnvironment, { port, maxSessions }: Flags): Promise<void> {
  const server = await serveEnvironment({ environment, port, maxSessions, onBug });
  const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  out(server.url);
  out();
  print(`Serving ${visible(environment.identity.name)} to OpenEnv clients. Stop with Ctrl-C.`);
  await stopped;
  await server.close();
}

/** A person plays: what a policy would read, a line of text as answer, the rewards. */
async function play(definition: AnyDefinition, { split, task: id, seed }: Flags): Promise<void> {
  const task = taskWith(definition, split, id);
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  let turn = definition.reset(task, episodeSeed(seed, task));
  let total: number | null = turn.reward;
  print(`${visible(definition.name)}, task ${visible(task.id)}. ${visible(definition.spec)}`);
  for (let turns = 0; !turn.end; turns++) {
    if (turns === definition.maxTurns) break;
    out();
    printObservation(turn.observation);
    process.stdout.write("  you> ");
    const { value, done } = await lines.next();
    if (!process.stdin.isTTY) out(visible(value ?? ""));
    if (done) return print("No more input: the game was left before its end.");
    turn = definition.step(turn.state, { text: value });
    total = total === null || turn.reward === null ? null : total + turn.reward;
  }
  out();
  const { code } = turn.end ?? { code: OUT_OF_TURNS };
  print(`The end: ${code}, reward ${total === null ? "none" : Number(total.toFixed(4))}.`);
  for (const [name, value] of Object.entries(turn.metrics ?? {})) out(`  ${name} ${value}`);
}

function taskWith(definition: AnyDefinition, split: Split, id: string | undefined): Example {
  const tasks = definition.tasks(split);
  const found = id === undefined ? tasks[0] : tasks.find((task) => task.id === id);
  if (found) return found;
  throw usageError(
    `${definition.name} has no task ${id} in the split ${split}`,
    `It has ${counted(tasks.length, "task")} there, such as ${tasks[0]?.id}.`,
  );
}
