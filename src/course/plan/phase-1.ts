/** Phase 1: learning from preferences, measured against the start. */

import path from "node:path";
import { messageOf } from "../../core/index.ts";
import { trainingReport } from "../../report/index.ts";
import { textOf } from "../workspace-files.ts";
import { type Criterion, met, missing, type Place } from "./criterion.ts";
import type { Training } from "./training.ts";
import {
  alarming,
  atLeastMeasured,
  beyondDoubt,
  type Doubt,
  evidenceOf,
  fromScratch,
  learnFromPairs,
} from "./training-criterion.ts";

/** At the start the policy is the reference, so that the loss is ln 2 whatever the pairs are. */
const notFromReference: Doubt = ({ summary: { first_loss: first } }) =>
  Math.abs(first - Math.LN2) < 0.01
    ? undefined
    : `its first loss is ${first.toFixed(4)}, and that of DPO is ln 2.`;

const unfrozen: Doubt = ({ summary }) =>
  summary.reference_frozen ? undefined : "its reference did not stay frozen.";

const dpoRuns = (place: Place) =>
  beyondDoubt(
    ...([place, ["dpo"], fromScratch, unfrozen, notFromReference] as const),
    ...[atLeastMeasured(2), alarming],
  );

const dpo: Criterion = {
  id: "dpo_run",
  title: "A finished DPO run",
  async check(place) {
    const { runs, found } = await dpoRuns(place);
    const [run] = runs;
    if (run) return met(evidenceOf(run, progress(run)));
    return missing(
      "a finished, whole DPO run in runs/ that began with a checkpoint, kept its reference frozen and was measured on a dev set",
      found,
      "Sample, make pairs of the samples, and train on them; the next step:",
      learnFromPairs(place),
    );
  },
};

function progress({ summary, records: { evaluations } }: Training): string {
  const [first, last] = [evaluations[0], evaluations.at(-1)].map((one) =>
    one?.pass_rate.toFixed(4),
  );
  return `${summary.steps} steps, pass rate ${first} → ${last}`;
}

const evaluation: Criterion = {
  id: "evaluation_report",
  title: "An evaluation report of the DPO run against its baseline",
  async check(place) {
    const { runs, found } = await dpoRuns(place);
    const expected = "a page in runs/ that report makes of a DPO run, with its win rate";
    const [first] = runs;
    if (!first) return missing(expected, found, "Finish the DPO run first.");
    const pages = place.trainings.files.filter((file) => /\.html?$/i.test(file));
    const problems: string[] = [];
    for (const page of pages) {
      const won = await winRate(place, page, runs);
      if (won.rate !== undefined)
        return met({ path: page, figure: `win rate ${won.rate} against the start` });
      if (won.problem !== undefined) problems.push(won.problem);
    }
    const name = `runs/${path.posix.basename(first.path)}.html`;
    const force = pages.includes(name) ? " --force" : "";
    return missing(
      expected,
      problems[0] ?? "no page about a DPO run that holds",
      "Make it:",
      `./lockedroom report --run ${first.path} -o ${name}${force}`,
    );
  },
};

/** Of a page that is what `report` makes of its runs now, one of which is a DPO run. */
async function winRate(
  { dir, trainings }: Place,
  page: string,
  runs: readonly Training[],
): Promise<{ rate?: string; problem?: string }> {
  const text = textOf(dir, page) ?? "";
  const names = /<h1>Training report: ([^<]*)<\/h1>/.exec(text)?.[1]?.split(", ") ?? [];
  const known = [...runs, ...trainings.known].map(({ path: name }) => name);
  const folders = names.map((name) => known.find((one) => `/${one}`.endsWith(`/${name}`)));
  const own = runs.find(({ path: name }) => folders.includes(name));
  if (!own) return {};
  const price = /At a stated price of (\S+) an hour/.exec(text)?.[1];
  try {
    const again = await trainingReport({
      runs: folders.flatMap((folder) => (folder === undefined ? [] : [path.join(dir, folder)])),
      pricePerHour: price === undefined ? undefined : Number(price),
    });
    if (again.html !== text)
      return { problem: `${page} is not what report makes of its runs now.` };
  } catch (error) {
    return { problem: `${page} cannot be made again: ${messageOf(error)}` };
  }
  // Where there are several runs, each has a heading.
  const name = names[folders.indexOf(own.path)];
  const about = text.slice(Math.max(0, text.indexOf(`<h2>${name}</h2>`)));
  const rate = /win rate ([\d.]+\s?%)/.exec(about)?.[1];
  return rate === undefined ? { problem: `${page} has no win rate.` } : { rate };
}

export const PHASE_1: readonly Criterion[] = [
  {
    id: "preference_data_exported",
    title: "Preference pairs exported in the form that Azure takes",
    needs: ["azure"],
  },
  dpo,
  { id: "azure_job", title: "A DPO job that succeeded on Azure Foundry", needs: ["azure"] },
  evaluation,
];
