/** Phase 1: learning from preferences, compared with the initial policy. */

import path from "node:path";
import { messageOf } from "../../core/index.ts";
import { trainingReport } from "../../report/index.ts";
import { textOf } from "../workspace-files.ts";
import { type Criterion, met, missing, type PlanContext } from "./criterion.ts";
import type { Training } from "./training.ts";
import {
  dpoCommand,
  evaluatedAtLeast,
  evidenceOf,
  noStoppingAlarm,
  qualifyingRuns,
  type Requirement,
  startsFromCheckpoint,
  trainingCriterion,
} from "./training-criterion.ts";

/** The policy starts as the reference, so that the first loss is ln 2 for any pairs. */
const startsAsReference: Requirement = ({ summary: { first_loss: first } }) =>
  Math.abs(first - Math.LN2) < 0.01
    ? undefined
    : `its first loss is ${first.toFixed(4)}, and that of DPO is ln 2.`;

const referenceFrozen: Requirement = ({ summary }) =>
  summary.reference_frozen ? undefined : "its reference did not stay frozen.";

const DPO = [
  ...[startsFromCheckpoint, referenceFrozen, startsAsReference],
  ...[evaluatedAtLeast(2), noStoppingAlarm],
];

const dpo = trainingCriterion({
  id: "dpo_run",
  title: "A finished DPO run",
  algorithms: ["dpo"],
  requirements: () => DPO,
  evidence: (run) => [evidenceOf(run, progress(run))],
  expected:
    "a finished, intact DPO run in runs/ that started from a checkpoint, kept its reference frozen and was evaluated on a dev set",
  next: "Sample, make preference pairs of the samples, and train on them; the next step:",
  command: dpoCommand,
});

function progress({ summary, records: { evaluations } }: Training): string {
  const [first, last] = [evaluations[0], evaluations.at(-1)].map((one) =>
    one?.pass_rate.toFixed(4),
  );
  return `${summary.steps} steps, pass rate ${first} → ${last}`;
}

const evaluation: Criterion = {
  id: "evaluation_report",
  title: "An evaluation report of the DPO run against its baseline",
  async check(context) {
    const { runs, found } = await qualifyingRuns(context, ["dpo"], DPO);
    const expected = "a page in runs/ that `report` wrote about a DPO run, with its win rate";
    const [first] = runs;
    if (!first) return missing(expected, found, "Finish the DPO run first.");
    const pages = context.trainings.files.filter((file) => /\.html?$/i.test(file));
    const problems: string[] = [];
    for (const page of pages) {
      const won = await winRate(context, page, runs);
      if (won.rate !== undefined)
        return met({ path: page, figure: `win rate ${won.rate} against the initial policy` });
      if (won.problem !== undefined) problems.push(won.problem);
    }
    const name = `runs/${path.posix.basename(first.path)}.html`;
    const force = pages.includes(name) ? " --force" : "";
    return missing(
      expected,
      problems[0] ?? "no valid page about a DPO run",
      "Write it:",
      `./lockedroom report --run ${first.path} --outfile ${name}${force}`,
    );
  },
};

/** The win rate on a page that is what `report` writes about its runs now. */
async function winRate({ dir, trainings }: PlanContext, page: string, runs: readonly Training[]) {
  const text = textOf(dir, page) ?? "";
  const names = /<h1>Training report: ([^<]*)<\/h1>/.exec(text)?.[1]?.split(", ") ?? [];
  const known = [...runs, ...trainings.known].map(({ path: name }) => name);
  const folders = names.map((name) => known.find((one) => `/${one}`.endsWith(`/${name}`)));
  const own = runs.find(({ path: name }) => folders.includes(name));
  if (!own) return {};
  const price = /At (\S+) per hour, in the currency/.exec(text)?.[1];
  try {
    const again = await trainingReport({
      runs: folders.flatMap((folder) => (folder === undefined ? [] : [path.join(dir, folder)])),
      pricePerHour: price === undefined ? undefined : Number(price),
    });
    if (again.html !== text)
      return { problem: `${page} is not what report writes about its runs now.` };
  } catch (error) {
    return { problem: `${page} cannot be written again: ${messageOf(error)}` };
  }
  // A page about several runs has a heading for each.
  const name = names[folders.indexOf(own.path)];
  const about = text.slice(Math.max(0, text.indexOf(`<h2>${name}</h2>`)));
  const rate = /win rate ([\d.]+\s?%)/.exec(about)?.[1];
  return rate === undefined ? { problem: `${page} has no win rate.` } : { rate };
}

export const PHASE_1: readonly Criterion[] = [
  {
    id: "preference_data_exported",
    title: "Preference pairs exported in the format of Azure",
    needs: ["azure"],
  },
  dpo,
  { id: "azure_job", title: "A DPO job that succeeded on Azure Foundry", needs: ["azure"] },
  evaluation,
];
