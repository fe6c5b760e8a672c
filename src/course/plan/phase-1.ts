/** Phase 1: learning from preferences, compared with the initial policy. */

import { type Criterion, met, missing, type PlanContext } from "./criterion.ts";
import type { Page } from "./pages.ts";
import { problemInPairs } from "./preference-data.ts";
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

const dpoRequirements = (context: PlanContext): Requirement[] => [
  ...[startsFromCheckpoint, referenceFrozen, startsAsReference],
  ...[evaluatedAtLeast(2), noStoppingAlarm],
  (training) => problemInPairs(context, training),
];

const dpo = trainingCriterion({
  id: "dpo_run",
  title: "A finished DPO run, on pairs that can be made again",
  algorithms: ["dpo"],
  requirements: dpoRequirements,
  evidence: (run) => [evidenceOf(run, progress(run))],
  expected:
    "a finished, intact DPO run in runs/ that started from a checkpoint, kept its reference frozen, was evaluated on a dev set, and learned from pairs that `pairs` makes again from their samples",
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
    const { runs, found } = await qualifyingRuns(context, ["dpo"], dpoRequirements(context));
    const expected = "a page in runs/ that `report` wrote about a DPO run, with its win rate";
    const [first] = runs;
    if (!first) return missing(expected, found, "Finish the DPO run first.");
    let problem: string | undefined;
    for (const run of runs) {
      const page = await context.pages.about(run);
      const rate = typeof page === "object" ? winRate(page, run) : undefined;
      if (typeof page === "object" && rate !== undefined)
        return met({ path: page.path, figure: `win rate ${rate} against the initial policy` });
      problem ??= typeof page === "object" ? `${page.path} has no win rate.` : page;
    }
    return missing(
      expected,
      problem ?? "no valid page about a DPO run",
      "Write it:",
      context.pages.command([first]),
    );
  },
};

/** A page about several runs has a heading for each. */
function winRate({ html, runs }: Page, { path: folder }: Training): string | undefined {
  const name = runs.find((run) => run.folder === folder)?.name;
  const about = html.slice(Math.max(0, html.indexOf(`<h2>${name}</h2>`)));
  // The page has a no-break space before the sign.
  return /win rate ([\d.]+\s?%)/.exec(about)?.[1]?.replace(/\s/, " ");
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
