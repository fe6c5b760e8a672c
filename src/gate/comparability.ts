/**
 * Are two runs comparable, and what changed between them? Answered from the manifests alone,
 * field by field; each difference has its own reason code.
 */

import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { Change, Knob } from "../core/knobs.ts";
import { isCheckpoint } from "../core/policy.ts";
import { isFields } from "../core/records.ts";
import type { Reason } from "../runs/gate-report.ts";
import type { Manifest } from "../runs/schemas.ts";
import { datasetOf, historyNotes, learningOf, seenBefore } from "./history.ts";
import { judgeReasons } from "./judged.ts";
import { seedsDiffer, triesNotes } from "./seeds.ts";
import { promptNotes, samePromptSettings, sameSampling, settingsOf } from "./stated-settings.ts";

interface Field {
  readonly code: string;
  readonly knob: Knob;
  readonly message: string;
  /** Compared only where this holds of both runs. */
  applies?(manifest: Manifest): boolean;
  read(manifest: Manifest): unknown;
  /** Where it is not simply the same value. */
  isSame?(baseline: Manifest, candidate: Manifest): boolean;
}

/** Where the change is one that users mean to make. */
const WAY_ON = "gate --claim no-regression --margin 0.02, or compare.";

/** What must be equal, and what a difference in it means. */
const MUST_MATCH: readonly Field[] = [
  {
    code: "fingerprint_version_differs",
    knob: "measurement",
    message:
      "The runs were written with different fingerprint versions. Evaluate both again with one version of lockedroom.",
    read: (m) => m.fingerprint_version,
  },
  {
    code: "loop_differs",
    knob: "policy",
    message:
      "One run is a training run and the other is not. Compare evaluations of the two policies.",
    read: (m) => (m.loop === "C" ? "C" : "A or B"),
  },
  {
    code: "dataset_bytes_differ",
    knob: "environment",
    message: "The data set files differ.",
    // Rows from memory have no bytes of their own; the examples are compared all the same.
    applies: (m) => datasetOf(m)?.path !== null,
    read: (m) => datasetOf(m)?.sha256 ?? null,
  },
  {
    code: "examples_differ",
    knob: "environment",
    message: "The examples differ: an id, a prompt, an expected answer or the order changed.",
    read: (m) => m.examples.sha256,
  },
  {
    code: "example_count_differs",
    knob: "environment",
    message: "The runs used different numbers of examples.",
    read: (m) => m.examples.count,
  },
  {
    code: "prompts_differ",
    knob: "environment",
    message: "The prompts differ. A new prompt is a new environment.",
    read: (m) => m.examples.prompts_sha256,
  },
  {
    code: "prompt_settings_differ",
    knob: "environment",
    message: `The system prompts or prompt templates differ. To compare prompts: ${WAY_ON}`,
    read: (m) => m.prompt,
    isSame: samePromptSettings,
  },
  {
    code: "sampling_differs",
    knob: "environment",
    message: `The completions were sampled with different settings. To compare settings: ${WAY_ON}`,
    read: ({ sampling }) => sampling && settingsOf(sampling),
    isSame: sameSampling,
  },
  {
    code: "repeats_differ",
    knob: "environment",
    message: "The runs have different numbers of samples for each example (--repeats).",
    read: (m) => m.settings.repeats ?? 1,
  },
  {
    code: "environment_differs",
    knob: "environment",
    message:
      "The environments differ: name, version, code or the codes of a solved task. Make both rollouts in one environment and evaluate them.",
    read: ({ environment, solved }) => {
      if (!environment) return null;
      const { name, version, source_sha256: source } = environment;
      return [name, version, source, solved ?? null];
    },
  },
  {
    code: "split_differs",
    knob: "environment",
    message: "The tasks are of different splits.",
    read: (m) => m.split ?? null,
  },
  {
    code: "scorer_name_differs",
    knob: "measurement",
    message: "The runs were scored by different scorers.",
    applies: isScored,
    read: (m) => m.scorer.name,
  },
  {
    code: "scorer_version_differs",
    knob: "measurement",
    message: "The scorer's version changed. Score both sets of completions with one version.",
    applies: isScored,
    read: (m) => m.scorer.version,
  },
];

/** Not by an environment, which is compared as one. */
function isScored({ environment }: Manifest): boolean {
  return environment === undefined;
}

export interface Comparability {
  readonly violations: Reason[];
  /** Sorted by name; empty when nothing changed. */
  readonly knobs: Change[];
  readonly notes: string[];
}

export function compareManifests(baseline: Manifest, candidate: Manifest): Comparability {
  const knobs = new Set<Change>();
  const violations: Reason[] = [];
  for (const { code, knob, message, read, applies, isSame } of MUST_MATCH) {
    if (applies && !(applies(baseline) && applies(candidate))) continue;
    const [before, after] = [read(baseline), read(candidate)];
    if (isSame ? isSame(baseline, candidate) : same(before, after)) continue;
    knobs.add(knob);
    violations.push({ code, message, baseline: before, candidate: after } as Reason);
  }
  violations.push(...seenBefore(baseline, candidate));
  const judge = judgeReasons(baseline, candidate);
  if (judge.length > 0) knobs.add("measurement");
  violations.push(...judge);
  const code = scorerCode(baseline, candidate);
  if (code) {
    knobs.add("measurement");
    violations.push(code);
  }
  if (!same(baseline.selection, candidate.selection)) {
    knobs.add("selection");
    violations.push(...otherSamples(baseline, candidate));
  }
  const policy = policyChange(baseline, candidate);
  if (policy) {
    knobs.add(policy);
    violations.push(...seedsDiffer(baseline, candidate));
  }
  return { violations, knobs: [...knobs].sort(), notes: notes(baseline, candidate) };
}

/** Changed code under the same name and version is an undeclared change, with its own reason code. */
function scorerCode(baseline: Manifest, candidate: Manifest): Reason | undefined {
  const [{ scorer: before }, { scorer: after }] = [baseline, candidate];
  if (!isScored(baseline) || !isScored(candidate)) return undefined;
  if (before.source_sha256 === after.source_sha256) return undefined;
  const declaredSame = before.name === after.name && before.version === after.version;
  return {
    code: declaredSame ? "instrument_changed_without_version_bump" : "scorer_source_differs",
    message: declaredSame
      ? `The code of ${after.name} ${after.version}, or a file that it reads, changed but its version did not. Bump the version and score both again.`
      : "The scorers' code differs, or a file that it reads.",
    baseline: before.source_sha256,
    candidate: after.source_sha256,
  };
}

/** Another selection rule on other samples is two changes, even when one policy drew both. */
function otherSamples(baseline: Manifest, candidate: Manifest): Reason[] {
  if (baseline.loop !== "B" || candidate.loop !== "B" || sameAnswers(baseline, candidate))
    return [];
  const sha256 = ({ inputs }: Manifest) =>
    inputs.find(({ role }) => role !== "dataset")?.sha256 ?? null;
  return [
    {
      code: "samples_differ",
      message:
        "Selection changed, and so did the samples. Select from the same samples file in both runs.",
      baseline: sha256(baseline),
      candidate: sha256(candidate),
    },
  ];
}

/** Policies that are stated are compared by what is said of them; others by their answers. */
function policyChange(baseline: Manifest, candidate: Manifest): Change | undefined {
  // The same weights are the same policy, whatever the manifests say about the training.
  const [before, after] = [weightsOf(baseline), weightsOf(candidate)];
  if (before !== undefined && after !== undefined) return before === after ? undefined : "policy";
  if (!isStated(baseline) || !isStated(candidate))
    return sameAnswers(baseline, candidate) ? undefined : "unknown";
  const equal =
    same(baseline.policy, candidate.policy) && same(baseline.learning, candidate.learning);
  return equal ? undefined : "policy";
}

function isStated({ policy }: Manifest): boolean {
  return policy !== null && Object.keys(policy).length > 0;
}

function weightsOf(manifest: Manifest): string | undefined {
  const { fingerprint } = (manifest.policy ?? {}) as JsonObject;
  return isCheckpoint(manifest.policy) && typeof fingerprint === "string" ? fingerprint : undefined;
}

/** The same file, or another file with the same completions in it. */
function sameAnswers(baseline: Manifest, candidate: Manifest): boolean {
  const files = ({ inputs }: Manifest) =>
    inputs.filter(({ role }) => role !== "dataset").map(({ role, sha256 }) => [role, sha256]);
  const [before, after] = [baseline.answers_sha256, candidate.answers_sha256];
  return (before !== null && before === after) || same(files(baseline), files(candidate));
}

/** The same answers of one stated policy. Two policies that are not stated may agree on some examples. */
export function sameAnswersOfOne(baseline: Manifest, candidate: Manifest): boolean {
  return [baseline, candidate].every(isStated) && sameAnswers(baseline, candidate);
}

function notes(baseline: Manifest, candidate: Manifest): string[] {
  const lines: string[] = [];
  if (baseline.sampling === null && candidate.sampling === null) {
    lines.push(
      "Neither run states its sampling settings; that they are the same cannot be verified from the runs.",
    );
  }
  lines.push(...promptNotes(baseline, candidate));
  const untouched = same(baseline.selection, candidate.selection);
  const unchanged = untouched && policyChange(baseline, candidate) === undefined;
  if (unchanged && !sameAnswers(baseline, candidate))
    lines.push(samePolicyNote(baseline, candidate));
  lines.push(
    ...statementNotes(baseline, candidate),
    ...historyNotes(baseline, candidate),
    ...triesNotes(baseline, candidate),
    ...trainingDifferences(baseline, candidate),
    ...scorerNotes(baseline, candidate),
  );
  const { tasks_chosen_of: tasks } = candidate.settings;
  if (tasks !== undefined) {
    lines.push(
      `The episodes are of ${candidate.examples.count} of the ${tasks} tasks of the split, which are not its first ones: they may have been chosen by their results.`,
    );
  }
  const rows = datasetOf(candidate)?.rows ?? 0;
  if (candidate.examples.count < rows) {
    lines.push(
      `Only the first ${candidate.examples.count} of the data set's ${rows} examples were used.`,
    );
  }
  return lines;
}

/** The same policy with other answers: by what else changed, or by chance. */
function samePolicyNote(baseline: Manifest, candidate: Manifest): string {
  const changed = [
    ...(samePromptSettings(baseline, candidate) ? [] : ["the prompt"]),
    ...(sameSampling(baseline, candidate) ? [] : ["the sampling settings"]),
  ];
  return changed.length === 0
    ? "The same policy was sampled again, so any difference is sampling noise."
    : `The policy is the same on both sides; what changed is ${changed.join(" and ")}.`;
}

/** How to state a policy, where one is missing and its answers differ. */
function statementNotes(baseline: Manifest, candidate: Manifest): string[] {
  if (policyChange(baseline, candidate) !== "unknown") return [];
  const stated = [baseline, candidate].map(isStated);
  const who = stated.includes(true)
    ? `The ${stated[0] ? "candidate" : "baseline"} does not state its policy`
    : "Neither run states its policy";
  return [
    `${who}, so what made the answers differ is unknown. State it with eval --policy NAME --sampling temperature=0.7,… or in a provenance file beside the completions.`,
  ];
}

/** What a scorer's fingerprint does not cover. */
function scorerNotes(...runs: readonly Manifest[]): string[] {
  const lines: string[] = [];
  if (runs.some(({ scorer }) => scorer.source === "function_text")) {
    lines.push(
      "The scorer was passed as an object. Its fingerprint covers the text of its function; that the values and functions it uses are the same cannot be verified from the runs.",
    );
  }
  if (runs.some(({ judge }) => judge !== undefined)) {
    lines.push("The judge was asked once about each task: asked again, it may score otherwise.");
  } else if (runs.some(({ scorer }) => scorer.deterministic === false)) {
    lines.push(
      "The scorer is declared non-deterministic: each row was scored once, and another evaluation may score it differently.",
    );
  }
  return lines;
}

/** For two trained policies: the training settings that differ. */
function trainingDifferences(baseline: Manifest, candidate: Manifest): string[] {
  const [before, after] = [learningOf(baseline), learningOf(candidate)];
  if (!before || !after || policyChange(baseline, candidate) === undefined) return [];
  if (after.from === weightsOf(baseline)) {
    return [`The candidate was trained from the baseline with ${after.algorithm}.`];
  }
  const changes = differencesOf(before, after);
  if (changes.length === 0) return ["Both policies were trained with the same settings."];
  const list = changes.map(({ name, from, to }) => `${name}: ${from} → ${to}`).join("; ");
  const several = changes.length > 1 ? ", so a difference cannot be attributed to one of them" : "";
  return [
    `The policies were trained with ${changes.length} different ${changes.length === 1 ? "setting" : "settings"}${several}. ${list}.`,
  ];
}

function differencesOf(
  before: JsonObject,
  after: JsonObject,
  prefix = "",
): { name: string; from: string; to: string }[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((key) => {
    const [a = null, b = null] = [before[key], after[key]];
    const name = prefix + key;
    if (same(a, b)) return [];
    if (isFields(a) && isFields(b))
      return differencesOf(a as JsonObject, b as JsonObject, `${name}.`);
    return [{ name, from: canonicalJson(a), to: canonicalJson(b) }];
  });
}

function same(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
