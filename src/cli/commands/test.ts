import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { usageError } from "../../core/errors.ts";
import { runTypescript } from "./run.ts";

export const help = `Examples:
  lockedroom test
  lockedroom test tests/kata_01.test.ts`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description("Runs node:test files written in TypeScript; `npm test` in a workspace calls it.")
    .argument("[files...]", "test files (default: tests/*.test.ts)")
    .action(async (given: string[]) => {
      const files = given.length > 0 ? given : testsHere();
      let code = 0;
      for (const file of files) {
        code = Math.max(code, await runTypescript(file, [], ["--test-reporter=spec"]));
      }
      exit(code);
    });
}

function testsHere(): string[] {
  const folder = "tests";
  const found = existsSync(folder) ? readdirSync(folder) : [];
  const tests = found.filter((name) => /\.test\.[cm]?[jt]s$/.test(name)).sort();
  if (tests.length > 0) return tests.map((name) => path.join(folder, name));
  throw usageError(
    "no test files: there is no tests/*.test.ts here",
    "Go to the workspace's folder, or name the files.",
  );
}
