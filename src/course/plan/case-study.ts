/**
 * Texts of the portfolio with links to runs and reports, and the case study: its ablations, and the
 * methods that it compares.
 */

import path from "node:path";
import { linkTargets, wordCount } from "../notes.ts";
import { realInside, textOf, workspacePath } from "../workspace-files.ts";
import type { KnownReport, KnownRun } from "../workspace-runs.ts";
import { type Criterion, met, missing, type PlanContext } from "./criterion.ts";
import { inputOf, isPlayed, ON_POLICY, type Training, validationScorer } from "./training.ts";
import { pageMissing } from "./training-criterion.ts";
import { ablationsAmong } from "./training-knobs.ts";

export const MIN_WORDS = 200;

/** The text of a file with enough words. */
export function essay({ dir }: PlanContext, file: string): string | undefined {
  const text = textOf(dir, file);
  return text !== undefined && wordCount(text) >= MIN_WORDS ? text : undefined;
}

export const tooShort = ({ dir }: PlanContext, file: string, expected: string) => {
  const text = textOf(dir, file);
  const found = text === undefined ? `no ${file}` : `${file} has ${wordCount(text)} words`;
  return missing(expected, found, `Write ${file}, ${MIN_WORDS} words or more.`);
};

interface Linked {
  readonly runs: readonly KnownRun[];
  readonly trained: readonly Training[];
  /** The training runs, with those that were sabotaged on purpose. */
  readonly failing: readonly Training[];
  readonly reports: readonly KnownReport[];
}

/** The valid runs, trainings and gate reports that a text of this file links to. */
export async function linked(
  { dir, runs: known, trainings }: PlanContext,
  file: string,
  text: string,
): Promise<Linked> {
  const named = new Set(
    linkTargets(text).flatMap((target) =>
      [path.dirname(file), "."].flatMap((from) => {
        const real = realInside(dir, path.resolve(dir, from, target));
        return real === undefined ? [] : [workspacePath(dir, real)];
      }),
    ),
  );
  const mentioned = ({ path: name }: { path: string }) =>
    named.has(name) || [...named].some((one) => one.startsWith(`${name}/`));
  const runs: KnownRun[] = [];
  for (const run of known.runs.filter(mentioned))
    if ((await known.problemOf(run)) === undefined) runs.push(run);
  const [trained, failing]: Training[][] = [[], []];
  for (const { path: name } of trainings.known.filter(mentioned)) {
    const [opened, broken] = [await trainings.open(name), await trainings.openFailing(name)];
    if (typeof opened !== "string") trained?.push(opened);
    if (typeof broken !== "string") failing?.push(broken);
  }
  const reports: KnownReport[] = [];
  for (const report of known.reports.filter(mentioned))
    if (typeof (await known.compared(report)) !== "string") reports.push(report);
  return { runs, trained: trained ?? [], failing: failing ?? [], reports };
}

export const CASE = "portfolio/case_study/README.md";
const MIN_ABLATIONS = 3;

const caseStudy: Criterion = {
  id: "case_study",
  title: `The case study, with ${MIN_ABLATIONS} ablations or more`,
  async check(context) {
    const expected = `${CASE} that links to ${MIN_ABLATIONS} ablations: training runs that differ from another linked one in one thing besides the seed, or gate reports with one knob turned`;
    const text = essay(context, CASE);
    if (text === undefined) return tooShort(context, CASE, expected);
    const { trained, reports } = await linked(context, CASE, text);
    const { count: trainedOnes, runs: compared } = ablationsAmong(trained);
    const turned = reports.filter(
      ({ report: { comparable, knobs } }) =>
        comparable && knobs.length === 1 && knobs[0] !== "unknown",
    );
    const count = trainedOnes + turned.length;
    if (count < MIN_ABLATIONS) {
      const next = "Link each ablation to its run or gate report, as in [name](../../runs/name).";
      return missing(
        expected,
        `it links to ${count} valid ${count === 1 ? "ablation" : "ablations"}`,
        next,
      );
    }
    const unreported = await pageMissing(context, compared);
    if (unreported) return unreported;
    const figure = `${trainedOnes} ablations by training, ${turned.length} by gate reports`;
    return met({ path: CASE, figure });
  },
};

const methods: Criterion = {
  id: "case_study_methods",
  title: "In it: an SFT baseline, DPO and one RL or RFT run compared",
  async check(context) {
    const { trained } = await linked(context, CASE, textOf(context.dir, CASE) ?? "");
    const measured = trained.filter(({ records }) => records.evaluations.length > 1);
    const byMethod = METHODS.map((names) =>
      measured.filter(({ manifest }) => names.has(manifest.algorithm)),
    );
    for (const sft of byMethod[0] ?? []) {
      const comparable = byMethod.map((runs) =>
        runs.find((run) => measurement(run) === measurement(sft)),
      );
      if (comparable.includes(undefined)) continue;
      const three = comparable.flatMap((run) => run ?? []);
      const unreported = await pageMissing(context, three);
      if (unreported) return unreported;
      const rates = three.map((run) => `${run.manifest.algorithm} ${lastRate(run)}`);
      return met({ path: CASE, figure: `pass rates on one dev set: ${rates.join(", ")}` });
    }
    const lost = NAMES.filter((_, i) => byMethod[i]?.length === 0);
    return missing(
      `links in ${CASE} to intact training runs of SFT, of DPO and of RFT or a policy gradient, evaluated on the same dev set by the same scorer`,
      lost.length > 0
        ? `it links to no intact, evaluated run of ${lost.join(", nor of ")}`
        : "they were not evaluated on the same dev set by the same scorer",
      "Link each run, as in [dpo](../../runs/dpo); train what is missing with --dev. SFT can learn from the samples that RFT kept: train sft --dataset runs/rft/kept.jsonl.",
    );
  },
};

const NAMES = ["SFT", "DPO", "RFT or a policy gradient"];
const METHODS = [["sft"], ["dpo"], ["rft", ...ON_POLICY]].map((names) => new Set(names));

/** The examples and the scorer, or the environment, that a policy was measured with. */
export function measurement({ manifest }: Training): string {
  const scored = isPlayed(manifest) ? manifest.environment : validationScorer(manifest)?.identity;
  return `${inputOf(manifest, "dev")?.sha256} ${scored?.source_sha256}`;
}

const lastRate = (run: Training) => run.records.evaluations.at(-1)?.pass_rate.toFixed(4);

export const CASE_STUDY: readonly Criterion[] = [caseStudy, methods];
