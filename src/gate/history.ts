/** What a policy had met before it was measured: its training data, its validation data, or unknown. */

import type { JsonObject } from "../core/json.ts";
import { isCheckpoint } from "../core/policy.ts";
import { isFields } from "../core/records.ts";
import type { Reason } from "../runs/gate-report.ts";
import type { Manifest } from "../runs/schemas.ts";

export const ON_VALIDATION_DATA = "measured_on_validation_data";
export const HISTORY_UNKNOWN = "history_unknown";

/** How a policy was trained; `learned_from` is its data and that of the policies it started from. */
export function learningOf({ policy }: Manifest): JsonObject | undefined {
  return (policy as JsonObject | null)?.learning as JsonObject | undefined;
}

export function datasetOf({ inputs }: Manifest): Manifest["inputs"][number] | undefined {
  return inputs.find(({ role }) => role === "dataset");
}

/** A policy must not be measured on what it learned from, or on what its checkpoint was chosen by. */
export function seenBefore(baseline: Manifest, candidate: Manifest): Reason[] {
  return [
    ...overlapReason(
      "measured_on_training_data",
      "A policy was trained on prompts that it is measured on. Evaluate on a held-out data set.",
      learned(baseline),
      learned(candidate),
    ),
    ...overlapReason(
      ON_VALIDATION_DATA,
      "A policy is measured on the validation data (--dev) of its training. Evaluate on a held-out data set, or say that you know with --allow-dev.",
      validated(baseline),
      validated(candidate),
    ),
  ];
}

type Overlap = Reason["baseline"];

function overlapReason(code: string, message: string, before: Overlap, after: Overlap): Reason[] {
  if (before === null && after === null) return [];
  return [{ code, message, baseline: before, candidate: after }];
}

/** The rows that were counted by their prompts, or else the hash of the same file; null without any. */
function learned(manifest: Manifest): Overlap {
  const files = learningOf(manifest)?.learned_from;
  return counted(manifest, "learned") ?? sameFile(manifest, Array.isArray(files) ? files : []);
}

function validated(manifest: Manifest): Overlap {
  const inputs = learningOf(manifest)?.inputs;
  const files = (Array.isArray(inputs) ? inputs : []).flatMap((input) =>
    isFields(input) && input.role === "dev" ? [input.sha256] : [],
  );
  return counted(manifest, "validated") ?? sameFile(manifest, files);
}

function counted({ exposure }: Manifest, kind: "learned" | "validated"): Overlap {
  const { rows = 0, first_ids = [] } = exposure?.[kind] ?? {};
  return rows === 0 ? null : { rows, first_ids };
}

function sameFile(manifest: Manifest, files: readonly unknown[]): Overlap {
  const data = datasetOf(manifest)?.sha256;
  return data !== undefined && files.includes(data) ? data : null;
}

/** A checkpoint that does not say everything that it, or one that it began with, learned from. */
export function historyUnknown(manifest: Manifest): boolean {
  const prompts = learningOf(manifest)?.prompts;
  return isCheckpoint(manifest.policy) && !(isFields(prompts) && prompts.complete === true);
}

/** A checkpoint with a history, in a run that does not say how much of it is in the examples. */
function overlapUncounted(manifest: Manifest): boolean {
  return isCheckpoint(manifest.policy) && !historyUnknown(manifest) && !manifest.exposure;
}

/**
 * A claim that the policy is better needs the candidate's history. That of the baseline is only noted:
 * what it had seen cannot make the candidate look better.
 */
export function historyReason(candidate: Manifest): Reason[] {
  const unknown = historyUnknown(candidate);
  if (!unknown && !overlapUncounted(candidate)) return [];
  const [problem, remedy] = unknown
    ? [
        "The candidate is a checkpoint that does not say everything it was trained on",
        "Use a checkpoint with its history",
      ]
    : [
        "The candidate's run does not say how many of the examples are in the training data",
        "Sample and evaluate again",
      ];
  return [
    {
      code: HISTORY_UNKNOWN,
      message: `${problem}, so it may have learned from the examples. ${remedy}, or say that you know with --allow-unknown-history.`,
      baseline: null,
      candidate: unknown ? "history unknown" : "overlap unknown",
    },
  ];
}

export function historyNotes(baseline: Manifest, candidate: Manifest): string[] {
  const sides = { baseline, candidate };
  const named = (holds: (manifest: Manifest) => boolean) =>
    Object.entries(sides)
      .filter(([, manifest]) => holds(manifest))
      .map(([name]) => name)
      .join(" and the ");
  const unknown = named(historyUnknown);
  const uncounted = named(overlapUncounted);
  return [
    ...(unknown ? [`History unknown: the ${unknown} may have been trained on anything.`] : []),
    ...(uncounted
      ? [
          `For the ${uncounted}, overlap of prompts with training data could not be counted; only whole files were compared.`,
        ]
      : []),
  ];
}
