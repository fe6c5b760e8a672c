/**
 * Axes: secondary scorers that are measured on every row besides the main one, so that a rise of one
 * figure cannot hide the fall of another.
 */

import { usageError } from "../core/errors.ts";
import { type Example, isFields } from "../core/records.ts";
import {
  type CheckedScore,
  type GuardedScorer,
  MISSING_COMPLETION,
  type ScoreRequest,
} from "../core/score.ts";
import type { Manifest, ResultRow } from "../runs/schemas.ts";
import { AXIS_NAMES } from "../scorers/axes/index.ts";
import { currentCode } from "../scorers/load.ts";
import { type AnyScorer, type OpenScorerOptions, openScorer } from "../scorers/open.ts";

/** A secondary scorer under the name that rows and reports give it. @see {@link evaluate} */
export interface Axis {
  readonly name: string;
  /** Default: the embedded axis of that name. */
  readonly scorer?: AnyScorer | undefined;
}

export interface OpenAxis {
  readonly name: string;
  readonly scorer: GuardedScorer;
}

/** What a row holds of its axes. */
export type AxisScores = NonNullable<ResultRow["axes"]>;

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/;

/** Opens the axes, sorted by name, for as long as `work` takes. */
export async function withAxes<T>(
  axes: readonly Axis[] = [],
  options: OpenScorerOptions,
  work: (axes: readonly OpenAxis[]) => Promise<T>,
): Promise<T> {
  requireNames(axes);
  const open: OpenAxis[] = [];
  const ours: GuardedScorer[] = [];
  try {
    for (const { name, scorer = name } of axes.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (typeof scorer === "object" && "scoreBatch" in scorer) open.push({ name, scorer });
      else {
        // The embedded ones cost less than handing their rows to a thread.
        const jobs = AXIS_NAMES.includes(String(scorer)) ? 1 : options.jobs;
        const opened = await openScorer(scorer, { ...options, jobs });
        ours.push(opened);
        open.push({ name, scorer: opened });
      }
    }
    requireReserved(open);
    return await work(open);
  } finally {
    for (const scorer of ours) await scorer.close();
  }
}

/** Reports take an axis of these names for the embedded one. */
function requireReserved(axes: readonly OpenAxis[]): void {
  for (const { name, scorer } of axes) {
    if (!AXIS_NAMES.includes(name)) continue;
    const { name: own, path, source, source_sha256: hash } = scorer.identity;
    const isEmbedded = own === name && path === null && source === undefined;
    if (isEmbedded && hash === currentCode({ name, path: null })) continue;
    throw usageError(
      `the name ${name} is reserved for the embedded axis, and another scorer is given`,
      `Choose another name, such as my-${name}.`,
    );
  }
}

function requireNames(axes: readonly Axis[]): void {
  const seen = new Set<string>();
  for (const { name, scorer } of axes) {
    if (!NAME.test(name))
      throw usageError(
        `an axis cannot be called ${JSON.stringify(name)}`,
        "A name begins with a letter and has up to 40 letters, digits, - and _.",
      );
    if (seen.has(name))
      throw usageError(`the axis ${name} is given twice`, "Give each axis a name of its own.");
    seen.add(name);
    if (scorer === undefined && !AXIS_NAMES.includes(name))
      throw usageError(
        `there is no embedded axis ${name}`,
        `Name one of ${AXIS_NAMES.join(", ")}, or give a scorer: --axis ${name}=scorer.ts.`,
      );
  }
}

/** Measures the rows on every axis; `examples` are those of the rows. */
export async function addAxes(
  axes: readonly OpenAxis[],
  rows: readonly ResultRow[],
  examples: readonly Example[],
): Promise<void> {
  if (axes.length === 0) return;
  const scores = (await scoreAxes(axes, requestsOf(rows, examples))).values();
  for (const row of rows)
    row.axes = row.completion === null ? missingOn(axes) : (scores.next().value as AxisScores);
}

function requestsOf(rows: readonly ResultRow[], examples: readonly Example[]): ScoreRequest[] {
  return rows.flatMap(({ completion }, i) =>
    completion === null ? [] : [{ example: examples[i] as Example, completion }],
  );
}

/** By request, the scores on every axis. */
export async function scoreAxes(
  axes: readonly OpenAxis[],
  batch: readonly ScoreRequest[],
): Promise<AxisScores[]> {
  const scores = await Promise.all(axes.map(({ scorer }) => scorer.scoreBatch(batch)));
  return batch.map((_, row) =>
    Object.fromEntries(
      axes.map(({ name }, axis) => [name, recorded(scores[axis]?.[row] as CheckedScore)]),
    ),
  );
}

function missingOn(axes: readonly OpenAxis[]): AxisScores {
  return Object.fromEntries(
    axes.map(({ name }) => [name, { reward: null, code: MISSING_COMPLETION }]),
  );
}

/** What a manifest says of the axes. */
export function describedAxes(axes: readonly OpenAxis[]): Pick<Manifest, "axes"> {
  if (axes.length === 0) return {};
  return { axes: axes.map(({ name, scorer }) => ({ name, scorer: scorer.identity })) };
}

const LONGEST_MESSAGE = 300;

/** Rows keep the reason in words, and no other details. */
function recorded({ reward, code, details }: CheckedScore): AxisScores[string] {
  const message = isFields(details) ? details.message : undefined;
  return {
    reward,
    code,
    ...(typeof message === "string" && { message: message.slice(0, LONGEST_MESSAGE) }),
  };
}
