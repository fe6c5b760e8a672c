/**
 * Attacks a scorer: completions that must not pass, edits of golden rows, a search guided by the
 * coverage of the scorer's code, relations that the user declares, and the mutation score of the
 * golden rows. Left out: attacks on the data set, and on the process that scores.
 */

import { usageError } from "../core/errors.ts";
import { type EditableFile, type EditableModule, openEditable } from "../extensions/editable.ts";
import { readSource } from "../extensions/source.ts";
import { HARDEN_SCHEMA, type HardenReport } from "../runs/harden-report.ts";
import { builtInFile, DEFAULT_SCORER, isGraderFile } from "../scorers/load.ts";
import { DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_MS, openScorer } from "../scorers/open.ts";
import { PLACE } from "./answer-forms.ts";
import type { AttackClass } from "./attack.ts";
import { ATTACK_CLASSES } from "./attacks/index.ts";
import { Coverage } from "./coverage.ts";
import { readData } from "./data.ts";
import { Finds, kindsOf } from "./finds.ts";
import { testGoldenRows } from "./mutants/golden-rows.ts";
import { literalsOf } from "./mutants/syntax.ts";
import { checkRelations, relationsOf } from "./relations.ts";
import { reported, smallestFinds } from "./smallest.ts";
import { runStages } from "./stages.ts";
import { FURTHER, Subject } from "./subject.ts";

/** What `harden` is given. @see {@link harden} */
export interface HardenOptions {
  /** A built-in's name or a file. */
  readonly scorer?: string | undefined;
  readonly dataset: string;
  /** Files of golden rows. */
  readonly golden?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  /** How often the scorer is called, besides coverage, relations, minimising and mutants. */
  readonly inputs?: number | undefined;
  /** An upper limit; what is found then depends on the machine. */
  readonly seconds?: number | undefined;
  /** Count right answers in other forms as finds. */
  readonly strict?: boolean | undefined;
  /** Attack classes to leave out. */
  readonly skip?: readonly string[] | undefined;
  /** Forms of an answer, with `{}` in its place. */
  readonly forms?: readonly string[] | undefined;
  /** A file that exports `relations`. */
  readonly relations?: string | undefined;
  /** Mutants that are accepted as equivalent. */
  readonly accept?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly onProgress?: ((what: string, done: number, total: number) => void) | undefined;
}

export const DEFAULT_INPUTS = 100_000;

/**
 * Attacks a scorer, and says what it found.
 * @example
 * ```ts
 * import { harden } from "lockedroom/harden";
 * const report = await harden({ dataset: "dataset.jsonl", inputs: 5000 });
 * for (const { attack_class, completion } of report.finds) console.log(attack_class, completion);
 * ```
 */
export async function harden(options: HardenOptions): Promise<HardenReport> {
  const { seed = 0, inputs = DEFAULT_INPUTS, strict = false, golden = [], forms = [] } = options;
  const { scorer: given = DEFAULT_SCORER, timeoutMs = DEFAULT_TIMEOUT_MS, seconds } = options;
  const { concurrency = DEFAULT_CONCURRENCY, onProgress = () => {} } = options;
  const classes = chosen(options.skip ?? []);
  requireForms(forms);
  const data = await readData(options.dataset, golden);
  // Before the scorer is loaded: blocks are counted only in code that is compiled afterwards.
  const coverage = new Coverage();
  const subject = await Subject.open(() => openScorer(given, { timeoutMs, concurrency }));
  try {
    const { module, own, words } = await sourceOf(given);
    coverage.watch(own.map((file) => file.path));
    const began = performance.now();
    const stop = () => seconds !== undefined && performance.now() - began > seconds * 1000;
    subject.onScored = () => onProgress("Attacking", Math.min(subject.inputs, inputs), inputs);
    const [finds, lenient] = [new Finds(), new Finds()];
    const { edited, seeds, kept, ...stages } = await runStages({
      ...{ subject, finds, lenient, stop, coverage, data, classes, words },
      ...{ forms, strict, seed, inputs },
    });
    subject.onScored = () => {};
    const hung = subject.hung;
    const stopped = hung ? "scorer_hangs" : stop() && subject.inputs < inputs ? "time" : null;
    if (hung) await subject.reopen();
    const entries = [...seeds, ...kept];
    const relations = await subject.during("relations", async () =>
      checkRelations({
        ...{ subject, finds, timeoutMs, entries },
        relations: await declared(given, options.relations),
      }),
    );
    const found = await subject.during("minimising", () =>
      smallestFinds(finds, subject, (done, all) => onProgress("Minimising", done, all)),
    );
    const accepted = new Set(options.accept ?? []);
    const onMutant = (done: number, all: number) => onProgress("Mutants", done, all);
    const mutation =
      data.golden.length === 0
        ? null
        : await subject.during("mutants", () =>
            testGoldenRows({
              ...{ subject, golden: data.golden, entries, module, files: own.length },
              ...{ accepted, timeoutMs, onMutant },
            }),
          );
    const { name, version, source_sha256 } = subject.identity;
    return {
      schema: HARDEN_SCHEMA,
      scorer: { name, version, source_sha256 },
      dataset_sha256: data.datasetSha256,
      golden_sha256: data.goldenSha256,
      settings: {
        ...{ seed, inputs, seconds: seconds ?? null, strict },
        classes: classes.map((one) => one.name),
      },
      inputs: countsOf(subject),
      stopped,
      forms: stages.forms,
      forms_not_used: stages.notUsed,
      classes: classes.map(({ name, why }) => ({
        ...{ name, why, finds: countOf(found, name) },
        ...(stages.tally.get(name) ?? { tried: 0, lenient: 0 }),
      })),
      finds: found,
      finds_left_out: finds.left_out,
      lenient: lenient.entries().map(({ sighting, times }) => reported(sighting, times)),
      edits: edited.edits,
      edits_left_out: edited.leftOut,
      search: { code_reached: stages.reached, kept: kept.length },
      relations,
      mutation,
    };
  } finally {
    await subject.close();
  }
}

interface Source {
  readonly module: EditableModule;
  readonly own: readonly EditableFile[];
  readonly words: string[];
}

/** The scorer's code; of a built-in only its own file is attacked. */
async function sourceOf(given: string): Promise<Source> {
  if (isGraderFile(given)) return graderSource(given);
  const builtIn = builtInFile(given);
  const module = await openEditable(builtIn ?? given);
  const own = builtIn === undefined ? module.files : module.files.slice(0, 1);
  const words = [...new Set(own.flatMap(({ tree }) => literalsOf(tree.program)))];
  return { module, own, words };
}

/** A grader is no code: nothing of it is covered or changed, and its texts are words for attacks. */
function graderSource(file: string): Source {
  const words: string[] = [];
  JSON.parse(
    Buffer.from(readSource(file))
      .toString("utf8")
      .replace(/^\ufeff/, ""),
    (_, value: unknown) => {
      if (typeof value === "string") words.push(value);
      return value;
    },
  );
  const module = { files: [], load: async () => "does_not_load" as const };
  return { module, own: [], words: [...new Set(words)] };
}

/** The relations of the scorer's file and of the user's. */
async function declared(given: string, file: string | undefined) {
  return [
    ...(builtInFile(given) === undefined && !isGraderFile(given)
      ? await relationsOf(given, false)
      : []),
    ...(file === undefined ? [] : await relationsOf(file, true)),
  ];
}

function countsOf({ counts, inputs }: Subject): HardenReport["inputs"] {
  const further = FURTHER.reduce((sum, phase) => sum + counts[phase], 0);
  return { ...counts, counted: inputs, all: inputs + further };
}

function countOf(found: HardenReport["finds"], name: string): number {
  return found.filter((find) => kindsOf(find).some((kind) => kind.attack_class === name)).length;
}

function chosen(skip: readonly string[]): AttackClass[] {
  const names = ATTACK_CLASSES.map(({ name }) => name);
  const unknown = skip.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw usageError(`there is no attack class "${unknown}"`, `The classes: ${names.join(", ")}.`);
  return ATTACK_CLASSES.filter(({ name }) => !skip.includes(name));
}

function requireForms(forms: readonly string[]): void {
  const bad = forms.find((form) => !form.includes(PLACE));
  if (bad === undefined) return;
  throw usageError(`the form "${bad}" has no ${PLACE}`, `Write ${PLACE} where the answer stands.`);
}
