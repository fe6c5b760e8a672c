/** The phases of a run: initial learning, refinement, convergence. */

import type { Vertical } from "../../charts/spec.ts";
import { type CurvePoint, PHASE_RULE, type Phases, phasesOf } from "../../curves/phases.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import { type Html, html } from "../page/html.ts";
import { grouped, plain } from "../page/numbers.ts";
import { stepPoints } from "./series.ts";

interface Found {
  readonly phases: Phases;
  readonly of: string;
  readonly last: number;
}

/** Of the validation reward where it has phases, otherwise of the training reward. */
function found(run: TrainingRunRecords): Found | undefined {
  const curves: [of: string, points: CurvePoint[]][] = [
    ["validation reward", run.evaluations.map(({ step, reward_mean: value }) => ({ step, value }))],
    [
      "training reward",
      stepPoints(run, "reward/mean").map(({ x, y }) => ({ step: x, value: y ?? 0 })),
    ],
  ];
  for (const [of, points] of curves) {
    const phases = phasesOf(points);
    if (phases) return { phases, of, last: points.at(-1)?.step ?? 0 };
  }
  return undefined;
}

/** Where the second and the third phase begin, on a chart. */
export function phaseMarks(run: TrainingRunRecords): Vertical[] {
  const { phases } = found(run) ?? {};
  if (!phases) return [];
  const { refinement, convergence } = phases;
  return [
    { x: refinement, label: "refinement" },
    ...(convergence === null ? [] : [{ x: convergence, label: "convergence" }]),
  ].filter(({ x }, i, marks) => marks[i + 1]?.x !== x);
}

export function phaseParagraph(run: TrainingRunRecords): Html {
  const seen = found(run);
  if (!seen)
    return html`<p>No phases: neither the validation reward nor the training reward has a clear gain. <span class="muted">${PHASE_RULE}</span></p>\n`;
  const { of, last, phases } = seen;
  const { refinement, convergence, gain } = phases;
  const until = grouped(convergence ?? last);
  const end =
    convergence === null
      ? `refinement from there to the end at step ${until}; it has not converged`
      : convergence === refinement
        ? "convergence since"
        : `refinement to step ${until}, convergence since`;
  const risk =
    convergence === null
      ? ""
      : " After convergence, more steps add risk of reward hacking rather than reward.";
  return html`<p>Phases of the ${of} (gain ${plain(gain)}): initial learning to step ${grouped(refinement)}, ${end}.${risk} <span class="muted">${PHASE_RULE}</span></p>\n`;
}
