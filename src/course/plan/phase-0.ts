/** Phase 0: a scorer that agrees with the golden suites, one measured baseline, one comparison. */

import path from "node:path";
import type { GuardedScorer } from "../../core/index.ts";
import { validateScorer } from "../../loops/index.ts";
import { openScorer } from "../../scorers/index.ts";
import { CORRECT, DEV, EXPLOITS, FROZEN, PACK, parseJson } from "../evidence.ts";
import { BLANK, wordCount } from "../notes.ts";
import { PACKAGE_ROOT } from "../workspace.ts";
import { fileSha256, textOf } from "../workspace-files.ts";
import type { KnownRun } from "../workspace-runs.ts";
import {
  type Criterion,
  type Met,
  type Missing,
  met,
  missing,
  type PlanContext,
} from "./criterion.ts";

const SUITES = [CORRECT, EXPLOITS];
const EVALUATE = `./lockedroom eval --dataset ${DEV} --completions ${FROZEN} --outdir runs/baseline`;

const scorer: Criterion = {
  id: "scorer_agrees",
  title: "A scorer that agrees with both golden suites",
  async check({ dir, config }) {
    const scoring = await openScorer(path.join(dir, config.scorer));
    try {
      let agreed = 0;
      for (const suite of SUITES) {
        // If the suite was edited, the shipped one is used too.
        const own = await sameBytes(path.join(dir, suite), path.join(PACKAGE_ROOT, suite));
        for (const root of own ? [dir] : [dir, PACKAGE_ROOT]) {
          const { valid, found, rows } = await validate(scoring, root, suite);
          const whose = root === dir ? suite : `${suite} as shipped`;
          if (!valid) return disagrees(config.scorer, suite, `${whose}: ${found}`);
          if (root === dir) agreed += rows;
        }
      }
      return met(
        { path: config.scorer, figure: `${agreed} of ${agreed} golden rows agree` },
        ...SUITES.map((suite) => ({ path: suite, figure: "every row agrees" })),
      );
    } finally {
      await scoring.close();
    }
  },
};

async function validate(scorer: GuardedScorer, root: string, suite: string) {
  const [dataset, golden] = [path.join(root, DEV), path.join(root, suite)];
  const { valid, rows, counts, probeFailures } = await validateScorer({ dataset, golden, scorer });
  const found = `${counts.agrees} of ${rows.length} rows agree, ${probeFailures.length} probes fail`;
  return { valid, found, rows: rows.length };
}

async function sameBytes(a: string, b: string): Promise<boolean> {
  const [one, other] = [await fileSha256(a), await fileSha256(b)];
  return one !== undefined && one === other;
}

function disagrees(scorerFile: string, suite: string, found: string): Missing {
  return missing(
    `${scorerFile} gives every golden row its expected reward and passes every probe`,
    found,
    "See which rows, and fix the scorer:",
    `./lockedroom validate-scorer --dataset ${DEV} --golden ${suite} --scorer ${scorerFile}`,
  );
}

/** Rollouts and pairs are opened otherwise, and are no broken evaluation. */
function isOfSamples(dir: string, run: string): boolean {
  const { schema } = Object(parseJson(textOf(dir, `${run}/manifest.json`)));
  return /^lockedroom\.(?:rollout|pairs)@/.test(String(schema));
}

const isEvaluation = ({ run }: KnownRun) => run.manifest.loop === "A";

const baseline: Criterion = {
  id: "baseline_measured",
  title: "A baseline measured end to end: an intact Loop A run with every row scored",
  async check({ runs, trainings }) {
    const valid = await runs.firstValid(isEvaluation);
    if (valid) {
      const { pass_rate: rate, n_scored: scored } = valid.run.summary.metrics;
      const figure = `pass rate ${rate?.toFixed(4)} of ${scored} rows`;
      return met({ path: `${valid.path}/summary.json`, figure });
    }
    const [broken] = runs.runs.filter(isEvaluation);
    const expected = "a finished Loop A run in runs/, not edited, every row scored";
    if (broken) {
      const problem = await runs.problemOf(broken);
      return missing(expected, `${broken.path}: ${problem}`, "Evaluate again:", EVALUATE);
    }
    const isTraining = (name: string) => trainings.known.some((one) => one.path === name);
    const unreadable = runs.unreadable.find(
      (one) => !isTraining(one.path) && !isOfSamples(runs.dir, one.path),
    );
    const [trained] = trainings.known;
    const other = trained ? `; ${trained.path} is a training run` : "";
    const found = unreadable ? unreadable.problem : `no evaluation in runs/${other}`;
    return missing(expected, found, "Evaluate:", EVALUATE);
  },
};

/** The two lines of a run note that a person writes. */
const FIELDS = ["What I expected", "Repair plan"];
const MIN_WORDS = 3;

const note: Criterion = {
  id: "run_note_written",
  title: "Its run note, filled in",
  async check({ dir, runs }) {
    const evaluations = runs.runs.filter(isEvaluation);
    for (const { path: name } of evaluations) {
      const file = `${name}/README.md`;
      if (unwritten(textOf(dir, file)) === undefined)
        return met({ path: file, figure: "expectation and repair plan are filled in" });
    }
    const expected = "a Loop A run whose README.md has your expectation and repair plan";
    const [first] = evaluations;
    if (!first) return missing(expected, "no Loop A run yet", "Make the run first.");
    const file = `${first.path}/README.md`;
    const empty = unwritten(textOf(dir, file));
    return missing(
      expected,
      `in ${file}, "${empty}" is not filled in`,
      `Open ${file} and replace the placeholders, one sentence each.`,
    );
  },
};

/** The first field that is not filled in. */
function unwritten(text: string | undefined): string | undefined {
  return FIELDS.find((field) => {
    const line = new RegExp(`\\*\\*${field}:\\*\\*([^\\n]*(?:\\n(?!\\s*- \\*\\*)[^\\n]*)*)`);
    const written = line.exec(text ?? "")?.[1] ?? "";
    const own = written.replaceAll(/<!--.*?-->/gs, "");
    return BLANK.test(own) || wordCount(own) < MIN_WORDS;
  });
}

const comparison: Criterion = {
  id: "second_run_compared",
  title: "A second run, compared by a saved gate report with one knob turned",
  async check(context) {
    return (await oneKnobReport(context)) ?? notCompared(context);
  },
};

async function oneKnobReport({ runs }: PlanContext): Promise<Met | undefined> {
  for (const known of runs.reports) {
    const { report } = known;
    if (!report.comparable || report.knobs.length !== 1) continue;
    const answer = await runs.compared(known);
    if (typeof answer === "string") continue;
    const difference = report.delta === null ? "" : `, difference ${report.delta.toFixed(4)}`;
    return met({ path: known.path, figure: `${report.decision}${difference}` });
  }
  return undefined;
}

const SELECT = `./lockedroom selection-demo --dataset ${DEV} --samples ${PACK}`;

/** Two runs with one knob between them, selection compute; then the comparison. */
const COMPARED = [
  ["Make a run to compare with, the first of the recorded samples:", "--n 1", "runs/one"],
  ["Turn one knob, selection compute, the best of four samples:", "--n 4", "runs/four"],
] as const;
const COMPARE = "--baseline runs/one --candidate runs/four --report runs/first-gate.json";

function comparisonStep({ runs }: PlanContext): [next: string, command: string] {
  const lacking = COMPARED.find(([, , name]) => !runs.runs.some(({ path: made }) => made === name));
  return lacking
    ? [lacking[0], `${SELECT} ${lacking[1]} --outdir ${lacking[2]}`]
    : [
        "Compare two runs with one knob turned, and save the report:",
        `./lockedroom gate ${COMPARE}`,
      ];
}

async function notCompared(context: PlanContext): Promise<Missing> {
  const { runs } = context;
  const expected =
    "a gate report in runs/ that compares two runs of this workspace with exactly one knob turned";
  const [next, command] = comparisonStep(context);
  const [first] = runs.reports;
  if (!first) return missing(expected, "no gate report in runs/", next, command);
  const answer = await runs.compared(first);
  const why = first.report.comparable
    ? `${first.path}: ${first.report.knobs.length} knobs were turned`
    : `${first.path}: its runs are not comparable`;
  return missing(expected, typeof answer === "string" ? answer : why, next, command);
}

export const PHASE_0: readonly Criterion[] = [scorer, baseline, note, comparison];
