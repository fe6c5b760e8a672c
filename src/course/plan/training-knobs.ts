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
