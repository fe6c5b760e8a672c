/**
 * Settings of completions from elsewhere, which a person stated (`eval --policy NAME --sampling …`). A
 * person does not write down what is off, nor that nothing was added to the prompt.
 */

import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { Manifest } from "../runs/schemas.ts";

/** Values that change nothing, by the names of the OpenAI and vLLM APIs. */
const NEUTRAL: Readonly<Record<string, readonly unknown[]>> = {
  stop: [[]],
  top_k: [0, -1],
  top_p: [1],
  min_p: [0],
  presence_penalty: [0],
  frequency_penalty: [0],
  repetition_penalty: [1],
};

export function sameSampling(baseline: Manifest, candidate: Manifest): boolean {
  const byHand = [baseline, candidate].some(isByHand);
  const [before, after] = [baseline, candidate].map(
    ({ sampling }) => sampling && settingsOf(sampling, byHand),
  );
  return canonicalJson(before) === canonicalJson(after);
}

/** Without the seed, which picks a sample from the same distribution. */
export function settingsOf({ seed: _seed, ...settings }: JsonObject, byHand = false): JsonObject {
  if (!byHand) return settings;
  const isNeutral = ([name, value]: [string, unknown]) =>
    NEUTRAL[name]?.some((neutral) => canonicalJson(neutral) === canonicalJson(value)) ?? false;
  return Object.fromEntries(Object.entries(settings).filter((entry) => !isNeutral(entry)));
}

/** Where a person did not state how the prompt was put, nothing was added to it: no system prompt. */
export function samePromptSettings(baseline: Manifest, candidate: Manifest): boolean {
  if (promptUnstated(baseline, candidate) !== undefined) return true;
  return canonicalJson(baseline.prompt) === canonicalJson(candidate.prompt);
}

export function promptNotes(baseline: Manifest, candidate: Manifest): string[] {
  const side = promptUnstated(baseline, candidate);
  if (side === undefined) return [];
  return [
    `The ${side} does not state its prompt settings; that they are the same cannot be verified from the runs.`,
  ];
}

function promptUnstated(
  baseline: Manifest,
  candidate: Manifest,
): "baseline" | "candidate" | undefined {
  const lacks = (manifest: Manifest, other: Manifest) =>
    isByHand(manifest) &&
    manifest.prompt === null &&
    other.prompt !== null &&
    isPlain(other.prompt);
  if (lacks(baseline, candidate)) return "baseline";
  return lacks(candidate, baseline) ? "candidate" : undefined;
}

/** The form, and the chat template, belong to a model; anything else was added to the prompt. */
function isPlain(prompt: JsonObject): boolean {
  return Object.entries(prompt).every(
    ([name, value]) => name === "form" || name === "template_sha256" || value === null,
  );
}

function isByHand({ policy }: Manifest): boolean {
  return policy?.kind === "stated";
}
