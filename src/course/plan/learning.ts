/** What a run of real training leaves behind, and how the plan reads it. */

import path from "node:path";
import { JsonlFile } from "../../index.ts";
import type { Place } from "./criterion.ts";
import { textOf } from "./files.ts";
import { jsonOf, type KnownRun, type Shelf } from "./shelf.ts";

/** Reinforcement fine-tuning under whichever of its algorithms. */
export const RFT = ["rft", "grpo", "ppo", "rloo", "reinforce"];

/** A run of `train` under one of these algorithms; a microscope is no training of a model. */
export function trainedBy(...algorithms: readonly string[]): (known: KnownRun) => boolean {
  return ({ run: { manifest } }) =>
    manifest.command === "train" &&
    algorithms.includes(String(manifest.learning?.algorithm).toLowerCase());
}

export function soundTraining(shelf: Shelf, ...algorithms: readonly string[]) {
  return shelf.firstSound(trainedBy(...algorithms));
}

export const summaryOf = (known: KnownRun): string => `${known.path}/summary.json`;

const CURVES = ["reward", "kl", "entropy", "length"] as const;
type Curve = (typeof CURVES)[number];

/** The last value of each curve in the run's log of steps; undefined where it was not logged. */
export async function lastOfCurves({ run }: KnownRun): Promise<{
  readonly file: string;
  readonly last: Partial<Record<Curve, number>>;
}> {
  const file = ["metrics.jsonl", "log.jsonl"].find((name) => name in run.summary.files);
  const last: Partial<Record<Curve, number>> = {};
  if (file === undefined) return { file: "metrics.jsonl", last };
  const steps = new JsonlFile(path.join(run.dir, file), (fields) => fields);
  for await (const batch of steps.batches()) {
    for (const step of batch) {
      for (const [key, value] of Object.entries(step)) {
        const curve = CURVES.find((name) =>
          key
            .toLowerCase()
            .split(/[^a-z]+/)
            .includes(name),
        );
        if (curve && typeof value === "number" && Number.isFinite(value)) last[curve] = value;
      }
    }
  }
  return { file, last };
}

export function curvesMissing(last: Partial<Record<Curve, number>>): Curve[] {
  return CURVES.filter((name) => last[name] === undefined);
}

/** The strength of the KL leash that a run was trained with, by any of its usual names. */
export function leashOf({ run: { manifest } }: KnownRun): number | undefined {
  const { learning } = manifest;
  const values = [learning?.beta, learning?.kl_coef, learning?.kl_beta];
  return values.find((value): value is number => typeof value === "number");
}

/** JSON files of runs/ outside run folders whose schema begins so, such as the record of a job. */
export function recordsOf(
  { dir, shelf }: Place,
  schema: string,
): { path: string; record: Record<string, unknown> }[] {
  return shelf.loose
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => {
      const record = jsonOf(textOf(dir, file)) as Record<string, unknown> | null | undefined;
      const known = typeof record === "object" && record !== null && !Array.isArray(record);
      return known && String(record.schema).startsWith(`${schema}@`)
        ? [{ path: file, record }]
        : [];
    });
}
