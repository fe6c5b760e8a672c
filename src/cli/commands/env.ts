/** `lockedroom env`: the environments, what they are, a game at the terminal, and their checks. */

import { once } from "node:events";
import path from "node:path";
import { Argument, type Command, Option } from "commander";
import { type PlayableEnvironment, SPLITS } from "../../core/environment.ts";
import { usageError } from "../../core/errors.ts";
import { canonicalJson, type Json } from "../../core/json.ts";
import { visible } from "../../core/visible.ts";
import { EMBEDDED } from "../../environments/catalogue.ts";
import { checkEnvironment, type Finding } from "../../environments/check.ts";
import { type OpenedEnvironment, openEnvironment } from "../../environments/open.ts";
import { isRemote } from "../../openenv/address.ts";
import { checkRemote } from "../../openenv/check-remote.ts";
import { openPlayable, openRemote, type RemotePlayable } from "../../openenv/open-playable.ts";
import { serveEnvironment } from "../../openenv/server.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { type PlayFlags, playAtTerminal } from "../env-play.ts";
import { showEnvironment, showRemote } from "../env-show.ts";
import { exampleAnswer } from "../environment-text.ts";
import { onBug } from "../on-bug.ts";
import { FORMAT, type Format, SEED, wholeNumber } from "../options.ts";
import { counted, err, out, paint, print, printableJson, program, warning } from "../terminal.ts";

interface Flags extends PlayFlags {
  readonly format: Format;
  readonly tasks: number;
  readonly port: number;
  readonly maxSessions: number;
  readonly outdir?: string;
}

export const help = `An environment is a task that is played over turns: an embedded one by its
name, a TypeScript file of your own, or one on an OpenEnv server (openenv:URL).

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
  lockedroom env serve twenty48 --port 8000
  lockedroom env show openenv:http://127.0.0.1:8000
  lockedroom env check openenv:http://127.0.0.1:8000#solved=1`;

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
    .argument("[environment]", "a name of the list, a .ts or .js file, or openenv:URL")
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
      exit(await ACTION[action](name, flags));
    });
}

/** What each action does with an environment, and its exit code. */
const ACTION: Readonly<
  Record<Exclude<Action, "list">, (name: string, flags: Flags) => Promise<number>>
> = {
  show: async (name, flags) => {
    if (isRemote(name)) await withRemote(name, (opened) => showRemote(opened, flags));
    else showEnvironment(await openEnvironment(name), flags);
    return 0;
  },
  tasks: async (name, flags) => {
    await withPlayable(name, (opened) => writeTasks(opened, flags));
    return 0;
  },
  play: async (name, flags) => {
    const example = isRemote(name)
      ? undefined
      : exampleAnswer((await openEnvironment(name)).definition);
    await withPlayable(name, (opened) => playAtTerminal(opened, flags, example));
    return 0;
  },
  check: async (name, flags) => {
    if (!isRemote(name)) {
      const { definition, identity } = await openEnvironment(name);
      return report(identity, checkEnvironment(definition, flags), flags);
    }
    return withRemote(name, async (opened) =>
      report(opened.environment.identity, await checkRemote(opened, flags), flags),
    );
  },
  serve: async (name, flags) => {
    if (isRemote(name)) {
      throw usageError(`${name} is a server already`, "Give its address to other programs.");
    }
    await serve(await openEnvironment(name), flags);
    return 0;
  },
};

function warn(sentence: string): void {
  err(warning(visible(sentence)));
}

async function withRemote<T>(
  given: string,
  use: (opened: RemotePlayable) => Promise<T>,
): Promise<T> {
  const opened = await openRemote(given, warn);
  return use(opened).finally(() => opened.close());
}

async function withPlayable(
  given: string,
  use: (opened: PlayableEnvironment) => Promise<void>,
): Promise<void> {
  const opened = await openPlayable(given, warn);
  await use(opened).finally(() => opened.close());
}

function list({ format }: Flags): void {
  const all = [...EMBEDDED.values()];
  if (format === "json") {
    const names = all.map(({ definition: { name, version, spec } }) => ({ name, version, spec }));
    out(printableJson(names, 2));
    return;
  }
  const width = Math.max(...[...EMBEDDED.keys()].map((name) => name.length)) + 2;
  for (const [name, { summary }] of EMBEDDED) out(`  ${name.padEnd(width)}${summary}`);
  out();
  print(`More about one: ${program()} env show NAME`);
}

/** Each split as a data set, which rollouts and training take. */
async function writeTasks(opened: PlayableEnvironment, { outdir }: Flags): Promise<void> {
  if (outdir === undefined) throw usageError("env tasks needs --outdir FOLDER", "Add it.");
  for (const split of SPLITS) {
    const tasks = await opened.tasks(split);
    const file = path.join(outdir, `${split}.jsonl`);
    await writeWhole(file, tasks.map((task) => `${canonicalJson(task as Json)}\n`).join(""));
    print(`Wrote ${visible(file)}, ${counted(tasks.length, "task")}`);
  }
}

/** 0 when no check failed. */
function report(identity: object, findings: readonly Finding[], { format }: Flags): number {
  const passed = findings.every((one) => one.passed !== false);
  if (format === "json") {
    out(printableJson({ environment: identity, passed, findings }, 2));
    return passed ? 0 : 1;
  }
  for (const finding of findings) printFinding(finding);
  out();
  const open = findings.filter((one) => one.passed === null).length;
  const rest =
    open === 0
      ? ""
      : ` as far as it could be checked: ${open} of ${findings.length} checks could not be made`;
  if (passed) out(paint("green", `SOUND${rest}`));
  else {
    out(
      paint("red", "NOT SOUND: a policy that learns from these rewards may learn something else."),
    );
  }
  return passed ? 0 : 1;
}

function printFinding({ id, passed, says }: Finding): void {
  const mark = passed === null ? "--  " : passed ? "ok  " : paint("red", "FAIL");
  out(`${mark}  ${id}`);
  print(visible(says), "      ");
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
