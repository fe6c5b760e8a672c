/**
 * Finds the command, runs it, and turns whatever happens into an exit code and a sentence. Handles
 * output errors, and user code that ends the process or throws outside of a call.
 */

import { closeSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { runBeforeExit } from "../core/before-exit.ts";
import { type ErrorKind, ioError, LockedRoomError, messageOf } from "../core/errors.ts";
import { visible } from "../core/visible.ts";
import { onHungLoad } from "../extensions/load-limit.ts";
import { strayFailure, userCodeLoaded } from "../extensions/module.ts";
import { onHungScore } from "../extensions/score-watch.ts";
import { asHarness } from "../extensions/watch.ts";
import { COMMANDS, GROUPS, loadCommand } from "./commands.ts";
import { prepareGraders } from "./grader-host.ts";
import { err, hint, wrap } from "./terminal.ts";

/** After sysexits(3). The gate's verdicts use 0 to 3. */
const EXIT: Record<ErrorKind | "internal", number> = { usage: 64, data: 65, internal: 70, io: 74 };

/** Runs a command as this process. Only a finished command exits with 0. */
export async function run(argv: readonly string[]): Promise<void> {
  let done = false;
  lockProcess(() => done);
  const listeners = process.listeners("exit");
  /** Exit listeners of user code must not change the exit code. */
  const leave = (code: number) => {
    process.removeAllListeners("exit");
    for (const listener of listeners) process.on("exit", listener);
    asHarness(runBeforeExit);
    process.exit(code);
  };
  process.on("exit", () => {
    asHarness(runBeforeExit);
    if (done) return;
    process.exitCode = report(endedEarly());
  });
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      done = true;
      leave(report(userCodeLoaded() ? strayFailure(error) : error));
    });
  }
  for (const onHung of [onHungLoad, onHungScore]) {
    onHung((error) => {
      done = true;
      const code = report(error);
      closeSync(2); // Node would print that a debugger is connected, which is how we got here.
      leave(code);
    });
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return; // A reader that stops early, such as `head`, is not an error.
    done = true;
    leave(report(ioError("print", error)));
  });
  process.stderr.on("error", () => {}); // The work continues without stderr.
  const code = await main(argv);
  done = true;
  // Exit although user code may have left timers, but only after all output is written. Errors of
  // earlier writes arrive shortly after this callback.
  process.stdout.write("", () => setImmediate(() => leave(code)));
}

/**
 * User code runs in this process. It cannot put its own functions in the place of those that print and
 * exit, and an exit that skips all listeners is not taken for success.
 */
function lockProcess(isDone: () => boolean): void {
  const native = process as unknown as { reallyExit(code: number): never };
  const leave = native.reallyExit.bind(process);
  const reallyExit = (code: number) => leave(isDone() ? code : code || EXIT.data);
  for (const [object, name, value] of [
    [process, "reallyExit", reallyExit],
    [process, "exit", process.exit],
    [process.stdout, "write", process.stdout.write],
    [process.stderr, "write", process.stderr.write],
  ] as const) {
    Object.defineProperty(object, name, { value, writable: false, configurable: false });
  }
}

function endedEarly(): LockedRoomError {
  return new LockedRoomError("data", "the process ended before the command was finished", {
    hint: "A scorer or policy must not call process.exit or wait for a promise that never settles.",
  });
}

export async function main(argv: readonly string[]): Promise<number> {
  const [first = "--help", ...rest] = argv[0] === "help" ? [...argv.slice(1), "--help"] : argv;
  const name = hyphenated(first);
  let exitCode = 0;
  prepareGraders();
  try {
    const program = await buildProgram(name, rest, (code) => {
      exitCode = code;
    });
    await program.parseAsync(isKnown(name) ? [name, ...rest] : [name], { from: "user" });
    return exitCode;
  } catch (error) {
    return report(error);
  }
}

/** Only the command that was asked for is loaded; the others are a line of help. */
async function buildProgram(
  chosen: string,
  words: readonly string[],
  exit: (code: number) => void,
): Promise<Command> {
  const program = strict(new Command("lockedroom"))
    .description(
      "Measure, select and learn with language-model policies,\nand never mistake one for another.",
    )
    .usage("COMMAND [options]")
    .enablePositionalOptions()
    .commandsGroup("Start here:")
    .helpCommand("help [command]", "the help of a command")
    .version(
      (await import("../runs/manifest.ts")).packageVersion(),
      "-V, --version",
      "print the version",
    )
    .helpOption("-h, --help", "print this help")
    .addHelpText(
      "after",
      "\nStart with: lockedroom tour\nEvery command takes --help, and its name with - or _ (inspect-run, inspect_run).",
    );
  for (const [heading, commands] of Object.entries(GROUPS)) {
    for (const [name, summary] of Object.entries<string>(commands)) {
      const command = new Command(name).summary(summary).helpGroup(heading);
      if (name === chosen) {
        const { define, help } = await loadCommand(name);
        define(command, exit, words);
        command.addHelpText("after", `\n${typeof help === "string" ? help : help(words)}`);
      }
      program.addCommand(strict(command));
    }
  }
  return program;
}

function strict(command: Command): Command {
  const required = command.options.filter((option) => option.mandatory);
  // Checked after unknown options, which are the better explanation: `--datset` for `--dataset`.
  for (const option of required) {
    option.mandatory = false;
    option.description += " (required)";
  }
  return command
    .hook("preAction", () => {
      const lost = required.find(
        (option) => command.getOptionValue(option.attributeName()) === undefined,
      );
      if (lost) command.error(`error: required option '${lost.flags}' not given`);
    })
    .exitOverride()
    .allowExcessArguments(false)
    .configureHelp({ helpWidth: 80, subcommandTerm: (subcommand) => subcommand.name() })
    .configureOutput({
      writeErr: (text) => err(text.trimEnd()),
      outputError: (text, write) => write(wrap(text.trimEnd().replace(/^error: /, "lockedroom: "))),
    });
}

/** Says what happened and gives the exit code for it. */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    hint("Add --help to see what is accepted.");
    return EXIT.usage;
  }
  if (error instanceof LockedRoomError) {
    err(wrap(`lockedroom: ${visible(error.message)}`));
    if (error.hint) hint(visible(error.hint));
    return EXIT[error.kind];
  }
  err(`lockedroom: this is a bug: ${error instanceof Error ? error.stack : messageOf(error)}`);
  return EXIT.internal;
}

/** An unknown command is an error whatever follows it, --help included. */
function isKnown(word: string): boolean {
  return word.startsWith("-") || Object.hasOwn(COMMANDS, word);
}

/** Every command's name is accepted with _ as well as with -. */
function hyphenated(name: string): string {
  return name.startsWith("-") ? name : name.replaceAll("_", "-");
}
