/**
 * A learner's code and tests. Functions are called with hidden inputs; tests must pass on the committed
 * code and fail on code that is broken on purpose.
 */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "../core/index.ts";
import { type CheckContext, CheckFailure, ensure } from "./check-context.ts";
import type { CallResult } from "./child.ts";

/** Longer arguments are left out of a message; cut, they could not be read. */
const MAX_SHOWN = 60;

/** A file of a learner's code, in a folder where it can be run. */
export class LearnerFile {
  readonly #context: CheckContext;
  readonly path: string;
  /** Its path in the workspace. */
  readonly name: string;

  constructor(context: CheckContext, folder: string, name: string) {
    this.#context = context;
    this.path = path.join(folder, name);
    this.name = name;
  }

  /** What a function returns for each list of arguments. */
  async call(name: string, argumentLists: readonly (readonly unknown[])[]): Promise<unknown[]> {
    const calls = argumentLists.map((args) => ({ export: name, args }));
    const results = await this.#context.callExports(this.path, calls);
    return results.map((result, i) => {
      const given = argumentLists[i]?.map((arg) => JSON.stringify(arg)).join(", ") ?? "";
      return this.#returned(result, `${name}(${given.length > MAX_SHOWN ? "…" : given})`);
    });
  }

  /** A function returns what is wanted for each list of arguments. */
  async checkReturns(
    name: string,
    cases: readonly { readonly args: readonly unknown[]; readonly wanted: unknown }[],
    where = this.name,
  ): Promise<void> {
    const given = await this.call(
      name,
      cases.map(({ args }) => args),
    );
    for (const [i, { args, wanted }] of cases.entries()) {
      ensure(given[i] === wanted, () => ({
        expected: `${name}(${args.map((arg) => JSON.stringify(arg)).join(", ")}) to be ${JSON.stringify(wanted)}`,
        found: JSON.stringify(given[i]) ?? "nothing",
        where,
      }));
    }
  }

  /** One exported value. */
  async exported(name: string): Promise<unknown> {
    const [result = { error: "no result" }] = await this.#context.callExports(this.path, [
      { export: name },
    ]);
    return this.#returned(result, name);
  }

  #returned(result: CallResult, what: string): unknown {
    if ("value" in result) return result.value;
    throw new CheckFailure({
      expected: `${what} of ${this.name} to return a value`,
      found: result.error,
      where: this.name,
    });
  }
}

/** A file as a commit has it. */
export async function fileAt(context: CheckContext, commit: string, name: string) {
  return new LearnerFile(context, await context.tree(commit), name);
}

/** A file of the latest commit, which must have its current content. */
export async function committedFile(context: CheckContext, file: string): Promise<LearnerFile> {
  await context.bytes(file);
  ensure(await context.isCommitted(file), {
    expected: `${file} committed with its current content, since the latest commit is checked`,
    found: (await context.committed()).has(file) ? "uncommitted changes" : "it is not committed",
    where: "git status",
    commit: true,
  });
  return fileAt(context, context.head, file);
}

/** Seeds that a learner cannot know in advance, the same until the next commit. */
export function hiddenSeed(context: CheckContext, level: string): string {
  return sha256(`${level} ${context.head}`);
}

// --- tests ------------------------------------------------------------------------------------------

/** Code that is broken on purpose, and how many tests must fail on it. */
export interface Mutant {
  /** As in "when …". */
  readonly name: string;
  readonly file: string;
  /** The whole file, or one export in terms of the `original` module. */
  readonly text?: string;
  readonly override?: { readonly export: string; readonly as: string };
  readonly least?: number;
  /** For a random mutant: it must be caught in one of so many attempts. */
  readonly attempts?: number;
}

export async function checkTests(
  context: CheckContext,
  file: string,
  least: number,
  mutants: readonly Mutant[],
): Promise<string> {
  await committedFile(context, file);
  const code = mutants[0]?.file as string;
  await committedFile(context, code);
  const { tests, failed, problem } = await runTests(context, file, { file: code });
  ensure(problem === undefined && failed === 0, {
    expected: "tests that pass on the committed code",
    found: problem ?? `${failed} of ${tests} failed`,
    where: `./lockedroom test ${file}`,
  });
  ensure(tests >= least, { expected: `at least ${least} tests`, found: `${tests}`, where: file });
  for (const mutant of mutants) {
    const caught = await mostFailures(context, file, mutant);
    ensure(caught >= (mutant.least ?? 1), {
      expected: `at least ${mutant.least ?? 1} of your tests to fail when ${mutant.name}`,
      found: caught === 0 ? "all of them pass" : `${caught} fail`,
      where: file,
      next: `Write a test in ${file} that fails when ${mutant.name}.`,
    });
  }
  return `${tests} tests; they catch ${mutants.length} broken versions of the code`;
}

async function mostFailures(context: CheckContext, file: string, mutant: Mutant): Promise<number> {
  let most = 0;
  for (let attempt = 0; attempt < (mutant.attempts ?? 1) && most === 0; attempt++) {
    const { tests, failed, problem } = await runTests(context, file, mutant);
    most = problem === undefined ? failed : Math.max(failed, tests, 1);
  }
  return most;
}

type CodeVariant = Pick<Mutant, "file" | "text" | "override">;

/**
 * The counts come from the test runner, not from what the file prints. With a `problem`, the file did
 * not start or was stopped.
 */
async function runTests(context: CheckContext, file: string, variant: CodeVariant) {
  const tree = await context.variant(await variantFiles(context, variant));
  const counts = `${context.scratch()}.json`;
  const { code, stderr, stopped } = await context.tests(path.join(tree, file), tree, counts);
  const counted = (await readFile(counts, "utf8").catch(() => "")) || "{}";
  const { tests = 0, failed = 0 } = JSON.parse(counted) as { tests?: number; failed?: number };
  const crash = code !== 0 && failed === 0 ? stderr.trim().split("\n")[0] : undefined;
  const problem = stopped ?? (crash === "" ? "a failure without a message" : crash);
  return { tests, failed, problem };
}

/**
 * The files of a variant of the committed code. The unchanged code is wrapped in the same way, so that
 * tests cannot recognise a mutant by its wrapper.
 */
async function variantFiles(context: CheckContext, { file, text, override }: CodeVariant) {
  const original = file.replace(/\.ts$/, ".original.ts");
  const from = JSON.stringify(`./${path.basename(original)}`);
  const committed = await readFile(path.join(await context.tree(context.head), file), "utf8");
  const changed = override
    ? `import * as original from ${from};\nexport const ${override.export} = ${override.as};\n`
    : "";
  return { [original]: text ?? committed, [file]: `export * from ${from};\n${changed}` };
}
