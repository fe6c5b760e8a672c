/** Axes that are left out, exchanged, relabelled or edited, so that a loss on them does not show. */

import type { Axis } from "../../loops/axes.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import type { BaseRow } from "../base.ts";
import { weaker } from "../base.ts";
import { forge, writeText } from "../files.ts";
import type { Outcome } from "../finding.ts";
import { type Laboratory, stated } from "../laboratory.ts";
import type { Caught, Sabotage } from "../sabotage.ts";
import { byGate } from "./against-baseline.ts";

const HONEST = "Both runs are measured on the same axes and left as they are.";
const VERBOSITY: readonly Axis[] = [{ name: "verbosity" }];
/** So wide that the rows of the laboratory rule out a loss on an axis that both runs do alike on. */
const MARGIN = { axisMargin: 0.2 };
const LONG = "and so on, ".repeat(200);

/** Wrong answers at great length, so that some rows of both runs fail on the axis. */
const spoken = (rows: readonly BaseRow[]): BaseRow[] =>
  rows.map((row) => (row.passes ? row : { ...row, completion: LONG }));

const within = { reward: 1, code: "within_budget" } as const;
const whitewashed = (row: ResultRow): ResultRow => ({
  ...row,
  axes: { ...row.axes, verbosity: within },
});
/** As whitewashed, with a label by which the scorer gives that reward. */
const relabelled = (row: ResultRow): ResultRow => ({
  ...whitewashed(row),
  axis_labels: { max_words: 5000 },
});

interface Runs {
  readonly baseline: string;
  readonly candidate: string;
}

/** Copies of a weaker and a better policy's runs, both measured on the axes. */
async function runsOf(lab: Laboratory, axes: readonly Axis[]): Promise<Runs> {
  const rows = spoken((await lab.base()).rows);
  const completions = rows.map(({ completion }) => completion);
  const before = { completions: weaker(rows), provenance: stated("earlier"), axes };
  const [baseline, candidate] = [
    await lab.evaluate("axes-baseline", before),
    await lab.evaluate("axes-candidate", { completions, axes }),
  ];
  return {
    baseline: await lab.copy(baseline, "axes-baseline"),
    candidate: await lab.copy(candidate, "axes-candidate"),
  };
}

interface About extends Pick<Sabotage, "name" | "trick"> {
  readonly caught: Caught;
  readonly axes?: (lab: Laboratory) => Promise<readonly Axis[]>;
}

/** The runs are edited, then the gate is asked. */
function edited(
  { axes = async () => VERBOSITY, ...about }: About,
  edit: (runs: Runs, lab: Laboratory) => Promise<void>,
): Sabotage {
  return {
    ...{ ...about, family: "axes", honest: HONEST },
    async play(lab, cheat) {
      const runs = await runsOf(lab, await axes(lab));
      if (cheat) await edit(runs, lab);
      const gated = await lab.gate(runs.baseline, runs.candidate, MARGIN);
      return about.caught.check === "verify" ? verifiedToo(lab, runs, gated) : gated;
    },
  };
}

async function verifiedToo(lab: Laboratory, runs: Runs, gated: Outcome): Promise<Outcome> {
  const { findings } = await lab.verify(runs.candidate, { only: ["score"] });
  return { verdict: gated.verdict, findings: [...gated.findings, ...findings] };
}

const LENGTH_AXIS = [
  'export const name = "length";',
  'export const version = "1";',
  'export const spec = "Characters, a thousandth each, at most 5.";',
  "export const range = [0, 5];",
  "export function score(example, completion) {",
  '  return { reward: Math.min(5, completion.length / 1000), code: "counted", details: {} };',
  "}",
  "",
].join("\n");

const ownAxis = async (lab: Laboratory): Promise<readonly Axis[]> => [
  { name: "length", scorer: await writeText(`${lab.dir}/length-axis.ts`, LENGTH_AXIS) },
];

const LENIENT_AXIS = LENGTH_AXIS.replace('"length"', '"verbosity"').replace(
  "Math.min(5, completion.length / 1000)",
  "5",
);

export const AXES: readonly Sabotage[] = [
  {
    ...{ name: "axis-left-out", family: "axes", honest: HONEST },
    trick: "Evaluates the candidate without the axis on which it would lose.",
    caught: byGate("axis_missing"),
    async play(lab, cheat) {
      const { baseline, candidate } = await runsOf(lab, VERBOSITY);
      const without = (await runsOf(lab, [])).candidate;
      return lab.gate(baseline, cheat ? without : candidate, MARGIN);
    },
  },
  {
    ...{ name: "axis-name-taken", family: "axes", honest: HONEST },
    trick: "Gives the name of an embedded axis to a scorer that accepts every text.",
    caught: { check: "eval", code: "exit 64", says: /verbosity/ },
    async play(lab, cheat) {
      const file = await writeText(`${lab.dir}/lenient-axis.ts`, LENIENT_AXIS);
      const axes = cheat ? [{ name: "verbosity", scorer: file }] : VERBOSITY;
      const { baseline, candidate } = await runsOf(lab, axes);
      return lab.gate(baseline, candidate, MARGIN);
    },
  },
  edited(
    {
      name: "axis-rewards-rehashed",
      trick: "Writes the best score of an embedded axis into every row, with new means and hashes.",
      caught: byGate("axis_rewards_differ"),
    },
    ({ candidate }) => forge(candidate, { row: whitewashed }),
  ),
  edited(
    {
      name: "axis-code-renamed",
      trick: "Edits an embedded axis in both runs and names other code in both manifests.",
      caught: byGate("axis_code_unknown"),
    },
    async ({ baseline, candidate }) => {
      for (const run of [baseline, candidate])
        await forge(run, {
          row: whitewashed,
          manifest: (manifest) => ({
            ...manifest,
            axes: manifest.axes?.map(({ name, scorer }) => ({
              ...{ name, scorer: { ...scorer, source_sha256: "0".repeat(64) } },
            })),
          }),
        });
    },
  ),
  edited(
    {
      name: "axis-labels-added",
      trick: "Labels the candidate's rows so that its long texts are within the budget.",
      caught: byGate("axis_labels_altered"),
    },
    ({ candidate }) => forge(candidate, { row: relabelled }),
  ),
  edited(
    {
      name: "axis-labels-in-both",
      trick: "Writes the same labels into the rows of both runs, with new means and hashes.",
      caught: { check: "verify", code: "score_differs" },
    },
    async ({ baseline, candidate }) => {
      for (const run of [baseline, candidate]) await forge(run, { row: relabelled });
    },
  ),
  edited(
    {
      name: "axis-beyond-its-range",
      trick: "Writes rewards beyond the declared range of an axis of one's own into the rows.",
      caught: byGate("axis_rewards_out_of_range"),
      axes: ownAxis,
    },
    ({ candidate }) =>
      forge(candidate, {
        row: (row) => ({ ...row, axes: { length: { reward: 1000, code: "counted" } } }),
      }),
  ),
];
