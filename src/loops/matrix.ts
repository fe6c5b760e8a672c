/**
 * A matrix of prompts and models. Each cell is a rollout and an evaluation of its own. Finished parts
 * are kept, so that a matrix can be continued and enlarged without sampling anything twice.
 */

import path from "node:path";
import { dataError, LockedRoomError, usageError } from "../core/errors.ts";
import { canonicalJson } from "../core/json.ts";
import type { Policy } from "../core/policy.ts";
import type { GuardedScorer } from "../core/score.ts";
import { SUMMARY } from "../runs/artifacts.ts";
import type { FinishedRollout } from "../runs/finished-rollout.ts";
import type { MatrixSpec } from "../runs/matrix-schema.ts";
import { openRun } from "../runs/reader.ts";
import { fileExists } from "../runs/whole-file.ts";
import { type Axis, type OpenAxis, withAxes } from "./axes.ts";
import { evaluate } from "./eval.ts";
import { rollout } from "./rollout.ts";

export interface Cell {
  readonly prompt: string;
  readonly model: string;
  /** PROMPT.MODEL. */
  readonly name: string;
  /** The folder of its run. */
  readonly run: string;
}

export interface CellDone extends Cell {
  /** Completions that were sampled this time, of how many. */
  readonly sampled: number;
  readonly wanted: number;
}

export interface MatrixOptions {
  readonly spec: MatrixSpec;
  readonly outdir: string;
  readonly scorer: GuardedScorer;
  readonly axes?: readonly Axis[] | undefined;
  /** Opens the policy of a cell: its model with its prompt. */
  readonly openPolicy: (cell: Cell) => Promise<Policy>;
  readonly onCell?: ((cell: CellDone, index: number, of: number) => void) | undefined;
}

/** Prompts in the order of the file, and for each the models. */
export function cellsOf({ prompts, models }: MatrixSpec, outdir: string): Cell[] {
  return Object.keys(prompts).flatMap((prompt) =>
    Object.keys(models).map((model) => {
      const name = `${prompt}.${model}`;
      return { prompt, model, name, run: path.join(outdir, name, "run") };
    }),
  );
}

/** The cell that the others are compared with. */
export function baselineOf({ baseline }: MatrixSpec, cells: readonly Cell[]): Cell {
  const found = baseline === undefined ? cells[0] : cells.find(({ name }) => name === baseline);
  if (found) return found;
  const known = cells.map(({ name }) => name).join(", ");
  throw usageError(`the matrix has no cell ${baseline}`, `Use one of ${known}.`);
}

export async function runMatrix(options: MatrixOptions): Promise<Cell[]> {
  const cells = cellsOf(options.spec, options.outdir);
  await requirePrompts(cells, options);
  const { concurrency, timeoutMs } = options.scorer;
  await withAxes(options.axes, { concurrency, timeoutMs }, async (axes) => {
    for (const [i, cell] of cells.entries()) {
      const done = await runCell(cell, options, axes);
      options.onCell?.(done, i, cells.length);
    }
  });
  return cells;
}

/** A prompt that a model cannot read is found before anything is sampled. */
async function requirePrompts(
  cells: readonly Cell[],
  { spec, openPolicy }: MatrixOptions,
): Promise<void> {
  for (const cell of cells) {
    const { system, file } = spec.prompts[cell.prompt] ?? {};
    if (system === undefined && file === undefined) continue;
    const policy = await openPolicy(cell);
    try {
      policy.requirePrompt?.("");
    } catch (error) {
      if (!(error instanceof LockedRoomError)) throw error;
      throw dataError(
        `the model ${cell.model} cannot read the prompt ${cell.prompt}: ${error.message}`,
        "Change the prompt, or take one of the two out of the matrix.",
      );
    } finally {
      await policy.close();
    }
  }
}

async function runCell(
  cell: Cell,
  options: MatrixOptions,
  axes: readonly OpenAxis[],
): Promise<CellDone> {
  const { spec, scorer } = options;
  const counts = { sampled: 0, wanted: 0 };
  const sampled = await sampleCell(cell, options, counts);
  const slice = spec.slice.length > 0 ? spec.slice : undefined;
  const repeats = spec.n > 1 ? spec.n : undefined;
  if (!(await isKept(cell, sampled, scorer, { slice, repeats, axes }))) {
    await evaluate({
      ...{ dataset: spec.dataset, completions: sampled.answers, outdir: cell.run },
      ...{ scorer, axes, slice, repeats, force: true },
    });
  }
  return { ...cell, ...counts };
}

async function sampleCell(
  cell: Cell,
  { spec, openPolicy }: MatrixOptions,
  counts: { sampled: number; wanted: number },
): Promise<FinishedRollout> {
  const { file } = spec.prompts[cell.prompt] ?? {};
  const policy = await openPolicy(cell);
  try {
    return await rollout({
      ...{ policy, dataset: spec.dataset, n: spec.n },
      outdir: path.join(path.dirname(cell.run), "rollout"),
      resume: true,
      inputs: file === undefined ? [] : [file],
      onStart: (wanted) => {
        counts.wanted = wanted;
      },
      onAnswer: () => {
        counts.sampled++;
      },
    });
  } finally {
    await policy.close();
  }
}

interface Measuring {
  readonly slice: readonly string[] | undefined;
  readonly repeats: number | undefined;
  readonly axes: readonly OpenAxis[];
}

/** A finished run is kept if it scored these samples by this scorer, in the same way. */
async function isKept(
  { run }: Cell,
  sampled: FinishedRollout,
  scorer: GuardedScorer,
  { slice, repeats, axes }: Measuring,
): Promise<boolean> {
  if (!fileExists(path.join(run, SUMMARY))) return false;
  const { manifest } = await openRun(run);
  const sha = (role: RegExp) => manifest.inputs.find((input) => role.test(input.role))?.sha256;
  const found = [
    ...[sha(/^dataset$/), sha(/^(completions|samples)$/), manifest.scorer.source_sha256],
    ...[manifest.settings.slice ?? null, manifest.settings.repeats ?? null],
    (manifest.axes ?? []).map((axis) => [axis.name, axis.scorer.source_sha256]),
  ];
  const wanted = [
    sampled.manifest.inputs[0]?.sha256,
    sampled.summary.files[path.basename(sampled.answers)],
    ...[scorer.identity.source_sha256, slice ?? null, repeats ?? null],
    axes.map((axis) => [axis.name, axis.scorer.identity.source_sha256]),
  ];
  return canonicalJson(found) === canonicalJson(wanted);
}
