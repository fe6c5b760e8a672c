/**
 * Starts a local interpreter in a process with limits, for graders that need packages. This is no
 * sandbox: the source can read and write what the user can, and use the network.
 */

import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { beforeExit } from "../../core/before-exit.ts";
import { isFields } from "../../core/records.ts";
import type { Limits } from "./interpreter.ts";
import type { Said } from "./messages.ts";
import type { Start } from "./process.ts";
import { PROGRAM } from "./program.ts";

/** Answers go to a copy of standard output; what the grader prints does not reach it. */
const SERVE = `
import os, tempfile
_line_in, _line_out = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
_nothing = os.open(os.devnull, os.O_RDWR)
for _fd in (0, 1, 2):
    os.dup2(_nothing, _fd)
_folder = tempfile.TemporaryDirectory(prefix="lockedroom-grader-")
os.chdir(_folder.name)
def _tell(said):
    _line_out.write(_json.dumps(said) + "\\n")
    _line_out.flush()
_tell({"opened": {**_json.loads(open_grader(_json.loads(_line_in.readline()))), "runtime": "python " + _sys.version.split()[0]}})
for _line in _line_in:
    _tell({"answer": grade_row(_json.loads(_line)), "memoryBytes": 0})
`;

/** Rows are one line each, and an answer is short; more is a program that is not ours. */
const LONGEST_LINE = 2 ** 20;

export function startLocal(python: string, source: string, { memoryMb }: Limits): Start {
  const program = ["-I", "-c", PROGRAM + SERVE];
  // A limit of memory is set by the shell, where there is one.
  const command =
    process.platform === "win32"
      ? { file: python, args: program }
      : {
          file: "/bin/sh",
          args: ["-c", `ulimit -v ${memoryMb * 1024}; exec "$0" "$@"`, python, ...program],
        };
  return (hear, gone) => {
    const child = spawn(command.file, command.args, {
      ...{ cwd: tmpdir(), env: { PYTHONHASHSEED: "0", LANG: "C.UTF-8" } },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const forget = beforeExit(() => child.kill("SIGKILL"));
    let complaint = "";
    child.stderr.on("data", (text: Buffer) => {
      complaint = (complaint + text.toString("utf8")).slice(-500);
    });
    child.stdin.on("error", () => {}); // The exit says why.
    createInterface({ input: child.stdout }).on("line", (line) => hear(readSaid(line)));
    child.on("error", (error) => gone(error.message));
    child.on("close", (code, signal) => {
      forget();
      const why = complaint.trim().split("\n").at(-1) || `status ${code}`;
      gone(`${python} ended with ${signal ?? why}`);
    });
    const send = (value: string) => void child.stdin.write(`${JSON.stringify(value)}\n`);
    send(source);
    return {
      send,
      end: () => void child.kill("SIGKILL"),
      hold(busy) {
        busy ? child.ref() : child.unref();
      },
    };
  };
}

function readSaid(line: string): Said {
  try {
    const said: unknown = line.length > LONGEST_LINE ? undefined : JSON.parse(line);
    if (isFields(said) && ("opened" in said || "answer" in said)) return said as Said;
  } catch {
    // Not ours.
  }
  return { broken: "the interpreter answered with something else" };
}
