/** What a training run was made with, and whether two were made alike. */

import { fingerprint, type Json } from "../../core/index.ts";
import { ALGORITHMS } from "../../learn/index.ts";
import type { TrainManifest } from "../../runs/index.ts";

/** Algorithms that sample from the policy as it learns. */
export const SAMPLING: readonly string[] = ALGORITHMS.filter(
  ({ needs }) => needs === "rollouts",
).map(({ name }) => name);

/** A setting by its whole name, such as kl.coefficient. */
export function setting({ settings }: TrainManifest, name: string): Json | undefined {
  return name.split(".").reduce<Json | undefined>((inside, key) => own(inside, key), settings);
}

function own(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, Json>)[key] : undefined;
}

/**
 * Equal for runs of the same data, start, scorers and settings, but for the settings named; with none
 * named, what a training writes into its summary of its manifest.
 */
export function kindOf(manifest: TrainManifest, but: readonly string[] = []): string {
  const { volatile: _, inputs, scorers, ...fixed } = manifest;
  const settings = structuredClone(fixed.settings) as Record<string, Json>;
  for (const name of but) remove(settings, name.split("."));
  return fingerprint({
    ...{ ...fixed, settings },
    inputs: inputs.map(({ path: _path, ...input }) => input),
    scorers: scorers.map(({ role, identity: { path: _path, ...identity } }) => ({
      role,
      identity,
    })),
  });
}

function remove(settings: Record<string, Json>, [key = "", ...inner]: readonly string[]): void {
  const inside = own(settings, key);
  if (inner.length === 0) delete settings[key];
  else if (inside !== undefined) remove(inside as Record<string, Json>, inner);
}

/** Who says how good the policy is: the scorer for it, or else the first that rewards. */
export function validator({ scorers }: TrainManifest) {
  return (
    scorers.find(({ role }) => role === "validation") ??
    scorers.find(({ role }) => role === "reward")
  );
}

export const rewarding = ({ scorers }: TrainManifest) =>
  scorers.filter(({ role }) => role === "reward").map(({ identity }) => identity);

/** Of one of the scorers that reward. */
export function weightOf(manifest: TrainManifest, place: number): number {
  const weights = setting(manifest, "weights");
  return Array.isArray(weights) ? Number(weights[place]) : 1;
}

export const inputOf = ({ inputs }: TrainManifest, wanted: string) =>
  inputs.find(({ role }) => role === wanted);
