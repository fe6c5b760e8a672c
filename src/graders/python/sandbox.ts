/**
 * Starts the sandbox: a process of Node that runs CPython in WebAssembly. Its environment is empty, and
 * where Node has a permission model it may read Pyodide's files alone, and start nothing.
 */

import { fork } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeExit } from "../../core/before-exit.ts";
import { usageError } from "../../core/errors.ts";
import type { Limits } from "./interpreter.ts";
import type { Opening, Row, Said } from "./messages.ts";
import type { Start } from "./process.ts";
import { PROGRAM } from "./program.ts";

export function startSandbox(source: string, { memoryMb }: Limits): Start {
  const pyodide = packageFolder();
  const entry = fileURLToPath(entryUrl());
  return (hear, gone) => {
    const child = fork(entry, [], {
      ...{ env: {}, cwd: path.parse(entry).root, execArgv: flags(pyodide, path.dirname(entry)) },
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const forget = beforeExit(() => child.kill("SIGKILL"));
    child.on("message", (said: Said) => hear(said));
    child.on("error", (error) => gone(error.message));
    child.on("exit", (code, signal) => {
      forget();
      gone(`it ended with ${signal ?? `status ${code}`}`);
    });
    const send = (message: Opening | Row) => {
      if (child.connected) child.send(message, () => {});
    };
    const url = pathToFileURL(path.join(pyodide, "pyodide.mjs")).href;
    send({ source, program: PROGRAM, pyodide: url, memoryBytes: memoryMb * 2 ** 20 });
    return {
      send: (row) => send({ row }),
      end: () => void child.kill("SIGKILL"),
      hold(busy) {
        for (const one of [child, child.channel]) busy ? one?.ref() : one?.unref();
      },
    };
  };
}

function flags(pyodide: string, entryFolder: string): string[] {
  const known = process.allowedNodeEnvironmentFlags;
  const permission = ["--permission", "--experimental-permission"].find((flag) => known.has(flag));
  const readable = [path.join(pyodide, "*"), path.join(entryFolder, "*"), packageJson()];
  return [
    ...(permission ? [permission, ...readable.map((file) => `--allow-fs-read=${file}`)] : []),
    ...["--no-warnings", "--disallow-code-generation-from-strings", "--max-old-space-size=512"],
  ];
}

/** Node looks there for the type of the modules beside the entry. */
function packageJson(): string {
  return fileURLToPath(new URL("../../../package.json", import.meta.url));
}

/** Node runs JavaScript only: sources that are run as they are use the build. */
function entryUrl(): URL {
  const built = import.meta.url.endsWith(".js");
  const entry = built ? "./sandbox-entry.js" : "../../../dist/graders/python/sandbox-entry.js";
  return new URL(entry, import.meta.url);
}

/** The interpreter that is installed; its version is part of a grader's identity. */
export function sandboxRuntime(): string {
  const file = path.join(packageFolder(), "package.json");
  return `pyodide ${(createRequire(import.meta.url)(file) as { version: string }).version}`;
}

function packageFolder(): string {
  try {
    const { resolve } = createRequire(import.meta.url);
    return path.dirname(resolve("pyodide/package.json"));
  } catch {
    throw usageError(
      "a python grader needs the package pyodide, which is not installed",
      "Install it beside lockedroom: npm install pyodide@314; or name a local interpreter with --python.",
    );
  }
}
