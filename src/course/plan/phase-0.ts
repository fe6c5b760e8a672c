/** Phase 0: the instrument agrees with what is settled, one baseline is measured, and compared. */

import path from "node:path";
import type { GuardedScorer } from "../../core/index.ts";
import { validateScorer } from "../../loops/index.ts";
import { openScorer } from "../../scorers/index.ts";
import { PACKAGE_ROOT } from "../init.ts";
import type { KnownRun } from "../shelf.ts";
import { words } from "../words.ts";
import { fileSha256, textOf } from "../workspace-files.ts";
import { type Criterion, type Met, type Missing, met, missing, type Place } from "./criterion.ts";

const DATASET = "data/datasets/math_dev.jsonl";
const COMPLETIONS = "data/rollouts/frozen_rollouts_dev.jsonl";
const SUITES = ["data/golden/golden_correct.jsonl", "data/golden/golden_exploits.jsonl"];
const EVALUATE = `./lockedroom eval --dataset ${DATASET} --completions ${COMPLETIONS} --outdir runs/baseline`;

const scorer: Criterion = {
  id: "scorer_agrees",
  title: "A scorer that agrees with both golden suites",
  async check({ dir, config }) {
    const scorer = await openScorer(path.join(dir, config.scorer));
    try {
      let agreed = 0;
      for (const suite of SUITES) {
        // A suite that was edited says only what its editor wants; the package's own is asked too.
        const own = await sameBytes(path.join(dir, suite), path.join(PACKAGE_ROOT, suite));
        for (const root of own ? [dir] : [dir, PACKAGE_ROOT]) {
          const { valid, found, rows } = await ask(scorer, root, suite);
          const whose = root === dir ? suite : `${suite} as it came with Locked Room`;
          if (!valid) return disagrees(config.scorer, suite, `${whose}: ${found}`);
          if (root === dir) agreed += rows;
        }
      }
      return met(
        { path: config.scorer, figure: `${agreed} of ${agreed} golden rows agree` },
        ...SUITES.map((suite) => ({ path: suite, figure: "every row agrees" })),
      );
    } finally {
      await scorer.close();
    }
  },
};

async function ask(scorer: GuardedScorer, root: string, suite: string) {
  const [dataset, golden] = [path.join(root, DATASET), path.join(root, suite)];
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
    `${scorerFile} gives every golden row its settled reward and survives every probe`,
    found,
    "See which rows, and mend the scorer:",
    `./lockedroom validate-scorer --dataset ${DATASET} --golden ${suite} --scorer ${scorerFile}`,
  );
}

const isEvaluation = ({ run }: KnownRun) => run.manifest.loop === "A";

const baseline: Criterion = {
  id: "baseline_measured",
  title: "A baseline measured end to end: a Loop A run, whole, every row judged",
  async check({ shelf }) {
    const sound = await shelf.firstSound(isEvaluation);
    if (sound) {
      const { pass_rate: rate, n_scored: judged } = sound.run.summary.metrics;
      const figure = `pass rate ${rate?.toFixed(4)} of ${judged} rows`;
      return met({ path: `${sound.path}/summary.json`, figure });
    }
    const [broken] = shelf.runs.filter(isEvaluation);
    const expected = "a finished Loop A run in runs/, as it was written, every row judged";
    if (broken) {
      const problem = await shelf.problemOf(broken);
      return missing(expected, `${broken.path}: ${problem}`, "Measure again:", EVALUATE);
    }
    const [unreadable] = shelf.unreadable;
    const found = unreadable ? unreadable.problem : "no Loop A run in runs/";
    return missing(expected, found, "Measure:", EVALUATE);
  },
};

/** The two lines of a run note that only a person can write. */
const FIELDS = ["What I expected", "Repair plan"];
const FEWEST_WORDS = 3;

const note: Criterion = {
  id: "run_note_written",
  title: "Its run note, filled in by you",
  async check({ dir, shelf }) {
    const evaluations = shelf.runs.filter(isEvaluation);
    for (const { path: name } of evaluations) {
      const file = `${name}/README.md`;
      if (unwritten(textOf(dir, file)) === undefined)
        return met({ path: file, figure: "expectation and repair plan are written" });
    }
    const expected = "a Loop A run whose README.md has your expectation and your repair plan";
    const [first] = evaluations;
    if (!first) return missing(expected, "no Loop A run yet", "Make the run first.");
    const file = `${first.path}/README.md`;
    const empty = unwritten(textOf(dir, file));
    return missing(
      expected,
      `in ${file}, "${empty}" is not written`,
      `Open ${file} and write what is marked as yours, a sentence each.`,
    );
  },
};

/** The first field that nobody has filled in; every field of a note that is not there. */
function unwritten(text: string | undefined): string | undefined {
  return FIELDS.find((field) => {
    const line = new RegExp(`\\*\\*${field}:\\*\\*([^\\n]*(?:\\n(?!\\s*- \\*\\*)[^\\n]*)*)`);
    const written = line.exec(text ?? "")?.[1] ?? "";
    const own = written.replaceAll(/<!--.*?-->/gs, "");
    return own.includes("_yours to write") || words(own) < FEWEST_WORDS;
  });
}

const comparison: Criterion = {
  id: "second_run_compared",
  title: "A second run, compared by a saved gate report with one knob turned",
  async check(place) {
    return (await oneKnobReport(place)) ?? notCompared(place);
  },
};

async function oneKnobReport({ shelf }: Place): Promise<Met | undefined> {
  for (const known of shelf.reports) {
    const { report } = known;
    if (!report.comparable || report.knobs.length !== 1) continue;
    const answer = await shelf.compared(known);
    if (typeof answer === "string") continue;
    const difference = report.delta === null ? "" : `, difference ${report.delta.toFixed(4)}`;
    return met({ path: known.path, figure: `${report.decision}${difference}` });
  }
  return undefined;
}

async function notCompared({ shelf }: Place): Promise<Missing> {
  const expected =
    "a gate report in runs/ that compares two runs of this workspace with exactly one knob turned";
  const next = "Make a second run, turn one knob, and save what the gate says of it:";
  const command =
    "./lockedroom gate --baseline runs/baseline --candidate runs/second --report runs/first-gate.json";
  const [first] = shelf.reports;
  if (!first) return missing(expected, "no gate report in runs/", next, command);
  const answer = await shelf.compared(first);
  const why = first.report.comparable
    ? `${first.path}: ${first.report.knobs.length} knobs were turned`
    : `${first.path}: its runs are not comparable`;
  return missing(expected, typeof answer === "string" ? answer : why, next, command);
}

export const PHASE_0: readonly Criterion[] = [scorer, baseline, note, comparison];
