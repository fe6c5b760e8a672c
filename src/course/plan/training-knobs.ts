/** What differs between two training runs: the names of settings, and data, scorers or the start. */

import { canonicalJson, type Json, leaves } from "../../core/index.ts";
import type { TrainManifest } from "../../runs/index.ts";
import type { Training } from "./training.ts";

/** The run derives it from its data. */
const DERIVED = ["length"];

/** Names of everything that differs, such as kl.coefficient or reward scorer. */
export function differences(a: Training, b: Training): string[] {
  const [one, other] = [partsOf(a.manifest), partsOf(b.manifest)];
  const names = new Set([...one.keys(), ...other.keys()]);
  const changed = [...names].filter((name) => one.get(name) !== other.get(name));
  // Another algorithm has other settings of its own.
  return changed.includes("algorithm")
    ? changed.filter((name) => !name.startsWith("algorithm."))
    : changed;
}

function partsOf({ settings, ...manifest }: TrainManifest): Map<string, string> {
  const scorers = (role: string) =>
    manifest.scorers
      .filter((one) => one.role === role)
      .map(({ identity }) => String(identity.source_sha256));
  const inputs = manifest.inputs.map(({ role, sha256 }) => `${role} ${sha256}`).sort();
  const parts: [string, Json][] = [
    ...leaves(settings as Json).filter(([name]) => !DERIVED.includes(name)),
    ["algorithm", manifest.algorithm],
    ["initial policy", manifest.init_fingerprint],
    ["data", inputs],
    ["environment", manifest.environment as Json],
    ["reward scorer", scorers("reward")],
    ["cost scorer", scorers("cost")],
    ["validation scorer", scorers("validation")],
  ];
  return new Map(parts.map(([name, value]) => [name, canonicalJson(value)]));
}

/** Another seed repeats a run; any other single difference is an ablation. */
export function isAblation(a: Training, b: Training): boolean {
  const [first, ...more] = differences(a, b);
  return first !== undefined && first !== "seed" && more.length === 0;
}

/**
 * The ablations among some runs, and the runs that they compare. Runs that differ in one thing belong
 * together, and each of them but one is an ablation, in whatever order they are given. Runs with the
 * same metrics count as one: what differs between them changed nothing.
 */
export function ablationsAmong(runs: readonly Training[]): {
  readonly count: number;
  readonly runs: readonly Training[];
} {
  const outcomes = new Map<string, Training[]>();
  for (const run of runs) {
    const { metrics_sha256: hash } = run.summary;
    outcomes.set(hash, [...(outcomes.get(hash) ?? []), run]);
  }
  let count = 0;
  const compared: Training[] = [];
  const left = new Set(outcomes.values());
  for (const start of left) {
    left.delete(start);
    const together = [start];
    for (const group of together)
      for (const other of left)
        if (group.some((a) => other.some((b) => isAblation(a, b)))) {
          left.delete(other);
          together.push(other);
        }
    count += together.length - 1;
    if (together.length > 1) compared.push(...together.flat());
  }
  return { count, runs: compared };
}
