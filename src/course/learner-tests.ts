/**
 * A learner's tests, judged by what they catch: they must pass on the code as it is, and fail on
 * code that is broken on purpose.
 */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { demand } from "./gap.ts";
import type { Room } from "./room.ts";

export interface TestRun {
  readonly tests: number;
  readonly failed: number;
  /** It could not even start, or was stopped. */
  readonly problem: string | undefined;
}

async function runTests(room: Room, tree: string, file: string): Promise<TestRun> {
  const { code, stdout, stderr, stopped } = await room.tests(path.join(tree, file), tree);
  const count = (name: string) =>
    Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(stdout)?.[1] ?? 0);
  const [tests, failed] = [count("tests"), count("fail") + count("cancelled")];
  const crash =
    code !== 0 && failed === 0 ? (stderr.trim().split("\n")[0] ?? "it failed") : undefined;
  return { tests, failed, problem: stopped ?? crash };
}

/** Code that is broken on purpose, and in how many tests that must show. */
export interface Mutant {
  /** As in "when …". */
  readonly name: string;
  readonly file: string;
  /** The whole file anew, or one export of it in terms of the `original` module. */
  readonly text?: string;
  readonly override?: { readonly export: string; readonly as: string };
  readonly least?: number;
  /** Luck is involved: it must show in one of so many attempts. */
  readonly attempts?: number;
}

/** The files that make a mutant of the committed code. */
async function filesOf(
  room: Room,
  { file, text, override }: Mutant,
): Promise<Record<string, string>> {
  if (text !== undefined) return { [file]: text };
  const original = file.replace(/\.ts$/, ".original.ts");
  const from = JSON.stringify(`./${path.basename(original)}`);
  return {
    [original]: await readFile(path.join(await room.tree(room.head), file), "utf8"),
    [file]: `export * from ${from};
import * as original from ${from};
export const ${override?.export} = ${override?.as};
`,
  };
}

export async function demandTests(
  room: Room,
  file: string,
  least: number,
  mutants: readonly Mutant[],
): Promise<string> {
  await room.read(file);
  const { tests, failed, problem } = await runTests(room, await room.tree(room.head), file);
  demand(problem === undefined && failed === 0, {
    expected: "tests that pass on the committed code",
    found: problem ?? `${failed} of ${tests} failed`,
    look: `./lockedroom test ${file}`,
  });
  demand(tests >= least, {
    expected: `at least ${least} tests`,
    found: `${tests}`,
    look: file,
  });
  for (const mutant of mutants) {
    const caught = await mostFailures(room, file, mutant);
    demand(caught >= (mutant.least ?? 1), {
      expected: `at least ${mutant.least ?? 1} of your tests to fail when ${mutant.name}`,
      found: caught === 0 ? "all of them pass" : `${caught} fail`,
      look: file,
      next: `Write a test in ${file} that notices when ${mutant.name}.`,
    });
  }
  return `${tests} tests; they notice ${mutants.length} ways to break the code`;
}

async function mostFailures(room: Room, file: string, mutant: Mutant): Promise<number> {
  let most = 0;
  for (let attempt = 0; attempt < (mutant.attempts ?? 1) && most === 0; attempt++) {
    const { tests, failed, problem } = await runTests(
      room,
      await room.variant(await filesOf(room, mutant)),
      file,
    );
    most = problem === undefined ? failed : Math.max(failed, tests, 1);
  }
  return most;
}
