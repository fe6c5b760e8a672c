/**
 * Attacks a scorer: completions that must not pass, edits of golden rows, a search guided by the
 * coverage of the scorer's code, relations that the user declares, and the mutation score of the
 * golden rows. Left out: attacks on the data set, and on the process that scores.
 */

import { fileURLToPath } from "node:url";
import { dataError, usageError } from "../core/errors.ts";
import { type Example, type GoldenRow, toExample, toGoldenRow } from "../core/records.ts";
import { rngAt, shuffled } from "../core/rng.ts";
import { type CheckedScore, passes } from "../core/score.ts";
import { openEditable } from "../extensions/editable.ts";
import { HARDEN_SCHEMA, type HardenFind, type HardenReport } from "../runs/harden-report.ts";
import { openRows } from "../runs/rows.ts";
import { DEFAULT_SCORER, SCORER_NAME } from "../scorers/index.ts";
import { DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_MS, openScorer } from "../scorers/open.ts";
import { acceptedForms, formCandidates, PLACE, written } from "./answer-forms.ts";
import type { AnswerForm, AttackClass, Target } from "./attack.ts";
import { ATTACK_CLASSES } from "./attacks/index.ts";
import { Coverage } from "./coverage.ts";
import { Finds } from "./finds.ts";
import { editGoldenRows } from "./golden-edits.ts";
import { minimalText } from "./minimise.ts";
import { mutationScore } from "./mutants/mutation-score.ts";
import { literalsOf } from "./mutants/syntax.ts";
import { troubleSighting } from "./oracle.ts";
import { checkRelations, relationsOf } from "./relations.ts";
import { materialOf, plannedOf, runAttacks } from "./run-attacks.ts";
import { type Entry, searchForFinds, shape } from "./search.ts";
import { Subject } from "./subject.ts";
import { targetOf } from "./targets.ts";

/** What `harden` is given. @see {@link harden} */
export interface HardenOptions {
  /** A built-in's name or a file. */
  readonly scorer?: string | undefined;
  readonly dataset: string;
  /** Files of golden rows. */
  readonly golden?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  /** How many completions are scored, besides minimising and mutants. */
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

/** A mutant is slow only if it hangs. */
const MUTANT_LIMIT_MS = 300;
/** Examples whose attacks are probes for mutants. */
const PROBED = 6;

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
  const { seed = 0, inputs = DEFAULT_INPUTS, strict = false } = options;
  const given = options.scorer ?? DEFAULT_SCORER;
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const classes = chosen(options.skip ?? []);
  requireForms(options.forms ?? []);
  const data = await readData(options);
  // Before the scorer is loaded: blocks are counted only in code that is compiled afterwards.
  const coverage = new Coverage();
  const subject = await Subject.open(() =>
    openScorer(given, { timeoutMs, concurrency: options.concurrency ?? DEFAULT_CONCURRENCY }),
  );
  try {
    const builtIn = given === SCORER_NAME;
    const module = await openEditable(builtIn ? builtInFile() : given);
    const own = builtIn ? module.files.slice(0, 1) : module.files;
    coverage.watch(own.map((file) => file.path));
    const words = [...new Set(own.flatMap(({ tree }) => literalsOf(tree.program)))];
    const began = performance.now();
    const stop = () =>
      options.seconds !== undefined && performance.now() - began > options.seconds * 1000;
    let done = 0;
    const onInputs = (count: number) => {
      done += count;
      options.onProgress?.("Attacking", Math.min(done, inputs), inputs);
    };
    const [finds, lenient] = [new Finds(), new Finds()];
    const shared = { subject, finds, stop, onInputs };

    const targets = shuffled(data.targets, rngAt(seed, "harden", "examples"));
    const forms = await acceptedForms(
      subject,
      targets,
      formCandidates(options.forms ?? [], data.golden, words),
    );
    const usedForms: AnswerForm[] =
      forms.length > 0 ? forms : [{ before: "Final: ", after: "", from: "common" }];
    const first = forms[0];
    const rest = () => Math.max(0, inputs - done);
    if (first)
      await checkRightAnswers({ ...shared, targets: targets.slice(0, inputs / 10) }, first);

    const share = data.golden.length > 0 ? 0.4 : 0.5;
    const beforeAttacks = subject.inputs;
    const tally = await runAttacks({
      ...{ ...shared, classes, targets, forms: usedForms, strict, lenient },
      inputs: Math.floor(rest() * share),
    });
    const beforeEdits = subject.inputs;
    const { edits, leftOut } = await editGoldenRows({
      ...{ ...shared, words, rng: rngAt(seed, "harden", "golden") },
      rows: data.golden.flatMap(({ row, target }) =>
        target ? [{ target, completion: row.completion }] : [],
      ),
      inputs: Math.floor(rest() * 0.3),
    });
    const beforeSearch = subject.inputs;
    const seeds = seedsOf(targets, usedForms, classes, data.golden);
    const kept = await searchForFinds({
      ...{ ...shared, coverage, targets, seeds, words, inputs: rest() },
      rng: rngAt(seed, "harden", "search"),
    });
    const reached = coverage.reached;
    const afterSearch = subject.inputs;
    const hung = subject.hung;
    if (hung) await subject.reopen();
    const relations = await checkRelations({
      ...{ subject, finds, timeoutMs },
      relations: [
        ...(builtIn ? [] : await relationsOf(given, false)),
        ...(options.relations === undefined ? [] : await relationsOf(options.relations, true)),
      ],
      entries: [...seeds, ...kept],
    });
    const afterRelations = subject.inputs;
    const found = await minimised(finds, subject, options);
    const mutation =
      data.golden.length === 0
        ? null
        : await mutationScore({
            module,
            files: own.length,
            suite: await agreeing(subject, data.golden),
            probes: await probesOf(subject, [...seeds, ...kept]),
            accepted: new Set(options.accept ?? []),
            timeoutMs: Math.min(timeoutMs, MUTANT_LIMIT_MS),
            onMutant: (count, all) => options.onProgress?.("Mutants", count, all),
          });
    const { name, version, source_sha256 } = subject.identity;
    return {
      schema: HARDEN_SCHEMA,
      scorer: { name, version, source_sha256 },
      dataset_sha256: data.datasetSha256,
      golden_sha256: data.goldenSha256,
      settings: {
        ...{ seed, inputs, seconds: options.seconds ?? null, strict },
        classes: classes.map((one) => one.name),
      },
      inputs: {
        attacks: beforeEdits - beforeAttacks,
        golden_edits: beforeSearch - beforeEdits,
        search: afterSearch - beforeSearch,
        relations: afterRelations - afterSearch,
        all: subject.inputs,
      },
      stopped: hung ? "scorer_hangs" : stop() && done < inputs ? "time" : null,
      forms,
      classes: classes.map(({ name, why }) => ({
        ...{ name, why, finds: finds.countOf(name) },
        tried: tally.get(name)?.tried ?? 0,
        lenient: tally.get(name)?.lenient ?? 0,
      })),
      finds: found,
      finds_left_out: finds.left_out,
      lenient: lenient
        .entries()
        .map(({ sighting, times }) => shown(sighting, sighting.completion, times)),
      edits,
      edits_left_out: leftOut,
      search: { code_reached: reached, kept: kept.length },
      relations,
      mutation,
    };
  } finally {
    await subject.close();
  }
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

function builtInFile(): string {
  const url = import.meta.url;
  return fileURLToPath(
    new URL(`../scorers/math-final-line${url.slice(url.lastIndexOf("."))}`, url),
  );
}

interface Data {
  readonly targets: readonly Target[];
  readonly golden: readonly {
    readonly row: GoldenRow;
    readonly target: Target | undefined;
    readonly example: Example;
  }[];
  readonly datasetSha256: string;
  readonly goldenSha256: string[];
}

async function readData({ dataset, golden = [] }: HardenOptions): Promise<Data> {
  const rows = openRows(dataset, "dataset", toExample);
  const examples = new Map<string, Example>();
  for await (const batch of rows.batches())
    for (const example of batch) examples.set(example.id, example);
  const targets = [...examples.values()].flatMap((example) => targetOf(example) ?? []);
  if (targets.length === 0)
    throw dataError(
      `${rows.label}: no example has an expected_answer`,
      "Give each example its right answer, so that wrong ones can be made.",
    );
  const suites: Data["golden"][number][] = [];
  const goldenSha256: string[] = [];
  for (const file of golden) {
    const suite = openRows(file, "golden rows", toGoldenRow);
    for await (const batch of suite.batches()) {
      for (const row of batch) {
        const example = examples.get(row.id);
        if (!example)
          throw dataError(
            `${suite.label}: the id "${row.id}" is not in ${rows.label}`,
            "A golden row's id names the example it answers.",
          );
        suites.push({ row, example, target: targetOf(example) });
      }
    }
    goldenSha256.push(suite.sha256);
  }
  return { targets, golden: suites, datasetSha256: rows.sha256, goldenSha256 };
}

/** The right answer in the form that the scorer accepts must pass for every example. */
async function checkRightAnswers(
  run: {
    subject: Subject;
    finds: Finds;
    targets: readonly Target[];
    onInputs(count: number): void;
  },
  form: AnswerForm,
): Promise<void> {
  const { subject, targets } = run;
  for (let from = 0; from < targets.length && !subject.hung; from += 256) {
    const some = targets.slice(from, from + 256);
    const requests = some.map(({ example, answer }) => ({
      example,
      completion: written(form, answer),
    }));
    const scores = await subject.score(requests);
    run.onInputs(requests.length);
    for (const [i, target] of some.entries()) {
      const [score, completion] = [scores[i], requests[i]?.completion];
      if (!score || completion === undefined) continue;
      const where = {
        attack_class: "right_answers",
        attack: `the right answer ${shape(target.answer)}`,
      };
      const trouble = troubleSighting(subject, target, completion, score, where, 1);
      if (trouble) run.finds.add(trouble);
      else if (score.reward !== null && !passes(score.reward))
        run.finds.add({
          ...where,
          problem: "right_refused",
          id: target.example.id,
          ...{ completion, expected_reward: 1, reward: score.reward, code: score.code },
          why: "the right answer in a form that passes for other examples does not pass",
        });
    }
  }
}

/** Right answers, golden rows, and the attacks on a few examples. */
function seedsOf(
  targets: readonly Target[],
  forms: readonly AnswerForm[],
  classes: readonly AttackClass[],
  golden: Data["golden"],
): Entry[] {
  const right = targets
    .slice(0, 64)
    .flatMap((target) =>
      forms.map((form) => ({ target, completion: written(form, target.answer) })),
    );
  const rows = golden.flatMap(({ row, target }) =>
    target ? [{ target, completion: row.completion }] : [],
  );
  const attacks = probed(targets).flatMap((target) => {
    const material = materialOf(target, targets, targets.indexOf(target), forms[0] as AnswerForm);
    return plannedOf(classes, material).map(({ attack }) => ({
      target,
      completion: attack.completion,
    }));
  });
  return [...right, ...rows, ...attacks];
}

/** Examples of different kinds: zero, negative, of few and of many digits. */
function probed(targets: readonly Target[]): Target[] {
  const kinds = new Map<string, Target>();
  for (const target of targets) {
    const { value, answer } = target;
    const kind = value === null ? "text" : `${Math.sign(value)} ${answer.length}`;
    if (!kinds.has(kind)) kinds.set(kind, target);
  }
  return [...kinds.values()].slice(0, PROBED);
}

/** Golden rows that the scorer agrees with; the others are for `validate-scorer`. */
async function agreeing(subject: Subject, golden: Data["golden"]) {
  const rows = golden.map(({ row, example }) => ({
    ...{ example, completion: row.completion, expected_reward: row.expected_reward },
  }));
  const scores = await subject.score(rows);
  return rows.filter((row, i) => scores[i]?.reward === row.expected_reward);
}

async function probesOf(subject: Subject, entries: readonly Entry[]) {
  const requests = entries
    .filter(({ completion }) => completion.length <= 1000)
    .map(({ target: { example }, completion }) => ({ example, completion }));
  const scores = await subject.score(requests);
  return requests.map((request, i) => ({ request, score: scores[i] as CheckedScore }));
}

async function minimised(
  finds: Finds,
  subject: Subject,
  { onProgress }: HardenOptions,
): Promise<HardenFind[]> {
  const entries = finds.entries();
  const found = new Map<string, HardenFind>();
  for (const [index, { sighting, times }] of entries.entries()) {
    const { still, payload, completion, attack_class, problem } = sighting;
    if (subject.hung) await subject.reopen();
    const smallest = still ? await minimalText(completion, still, payload) : completion;
    const find = shown(sighting, smallest, times);
    const searched = attack_class === "coverage_search";
    const key = searched ? `${problem} ${shape(smallest)}` : String(index);
    const known = found.get(key);
    found.set(key, known ? { ...known, times: known.times + times } : find);
    onProgress?.("Minimising", index + 1, entries.length);
  }
  return [...found.values()];
}

function shown(
  { still, payload, attack, ...find }: ReturnType<Finds["entries"]>[number]["sighting"],
  completion: string,
  times: number,
): HardenFind {
  const searched = find.attack_class === "coverage_search";
  return { ...find, attack: searched ? "found by search" : attack, completion, times };
}
