/**
 * A learner's tests, judged by what they catch: they must pass on the code as it is, and fail on
 * code that is broken on purpose.
 */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { committedFile } from "./evidence.ts";
import { demand } from "./gap.ts";
import type { Room } from "./room.ts";

interface TestRun {
  readonly tests: number;
  readonly failed: number;
  /** It could not even start, or was stopped. */
  readonly problem: string | undefined;
}

/** The counts come from the runner itself, not from what the file prints. */
async function runTests(room: Room, tree: string, file: string): Promise<TestRun> {
  const counts = `${room.scratch()}.json`;
  const { code, stderr, stopped } = await room.tests(path.join(tree, file), tree, counts);
  const counted = (await readFile(counts, "utf8").catch(() => "")) || "{}";
  const { tests = 0, failed = 0 } = JSON.parse(counted) as Partial<TestRun>;
  const crash = code !== 0 && failed === 0 ? (stderr.trim().split("\n")[0] ?? "") : undefined;
  return { tests, failed, problem: stopped ?? (crash === "" ? "it failed without a word" : crash) };
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

/**
 * The files that make a mutant of the committed code. Without an override the code is the same, by the
 * same detour, so that tests cannot tell the true code from a broken one by how it is wrapped.
 */
async function filesOf(
  room: Room,
  { file, text, override }: Pick<Mutant, "file" | "text" | "override">,
): Promise<Record<string, string>> {
  const original = file.replace(/\.ts$/, ".original.ts");
  const from = JSON.stringify(`./${path.basename(original)}`);
  const committed = await readFile(path.join(await room.tree(room.head), file), "utf8");
  return {
    [original]: text ?? committed,
    [file]: `export * from ${from};\n${
      override
        ? `import * as original from ${from};\nexport const ${override.export} = ${override.as};\n`
        : ""
    }`,
  };
}

export async function demandTests(
  room: Room,
  file: string,
  least: number,
  mutants: readonly Mutant[],
): Promise<string> {
  await committedFile(room, file);
  const [code] = mutants.map((mutant) => mutant.file);
  await committedFile(room, code as string);
  const same = await room.variant(await filesOf(room, { file: code as string }));
  const { tests, failed, problem } = await runTests(room, same, file);
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
