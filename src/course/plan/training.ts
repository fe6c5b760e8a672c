/** A training run of a workspace: its settings, inputs and scorers, from its manifest. */

import type { Json } from "../../core/index.ts";
import { ALGORITHMS } from "../../learn/index.ts";
import {
  manifestFingerprint,
  type TrainingRunRecords,
  type TrainManifest,
  type TrainSummary,
} from "../../runs/index.ts";

export interface Training {
  /** Workspace path: runs/dpo. */
  readonly path: string;
  readonly manifest: TrainManifest;
  readonly summary: TrainSummary;
  readonly records: TrainingRunRecords;
}

/** Algorithms that sample from the policy as it learns. */
export const ON_POLICY: readonly string[] = ALGORITHMS.filter(
  ({ needs }) => needs === "rollouts",
).map(({ name }) => name);

/** A setting by its full name, such as kl.coefficient. */
export function setting({ settings }: TrainManifest, name: string): Json | undefined {
  return name.split(".").reduce<Json | undefined>((inside, key) => own(inside, key), settings);
}

function own(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, Json>)[key] : undefined;
}

/**
 * Equal for runs with the same data, initial policy, scorers and settings, except the settings named;
 * with none named, it is the manifest hash of the summary.
 */
export function settingsFingerprint(manifest: TrainManifest, except: readonly string[] = []) {
  const settings = structuredClone(manifest.settings) as Record<string, Json>;
  for (const name of except) remove(settings, name.split("."));
  return manifestFingerprint({ ...manifest, settings } as TrainManifest);
}

function remove(settings: Record<string, Json>, [key = "", ...inner]: readonly string[]): void {
  const inside = own(settings, key);
  if (inner.length === 0) delete settings[key];
  else if (inside !== undefined) remove(inside as Record<string, Json>, inner);
}

/** The scorer used for validation, or else the first reward scorer. */
export function validationScorer({ scorers }: TrainManifest) {
  return (
    scorers.find(({ role }) => role === "validation") ??
    scorers.find(({ role, identity }) => role === "reward" && !isJudge(identity))
  );
}

/** Without a judge, whose scores no code here can give again. */
export const rewardScorers = ({ scorers }: TrainManifest) =>
  scorers
    .filter(({ role, identity }) => role === "reward" && !isJudge(identity))
    .map(({ identity }) => identity);

const isJudge = ({ kind }: { readonly kind?: unknown }) => kind === "judge";

/** Whether an environment gave the rewards, which needs no scorer. */
export const isPlayed = (manifest: TrainManifest) =>
  manifest.environment !== null && rewardScorers(manifest).length === 0;

/** The weight of a reward scorer. */
export function weightOf(manifest: TrainManifest, place: number): number {
  const weights = setting(manifest, "weights");
  return Array.isArray(weights) ? Number(weights[place]) : 1;
}

export const inputOf = ({ inputs }: TrainManifest, wanted: string) =>
  inputs.find(({ role }) => role === wanted);
