/** Every kind of run: how its folder is recognised, what it is called, and what is done with one. */

import { existsSync } from "node:fs";
import path from "node:path";
import type { JsonObject } from "../core/json.ts";
import {
  COMPLETIONS,
  JOURNAL,
  JUDGE_AUDIT_MANIFEST_SCHEMA,
  JUDGE_AUDIT_SUMMARY_SCHEMA,
  JUDGEMENTS,
  MANIFEST,
  MANIFEST_SCHEMA,
  PAIRS_SCHEMA,
  PAIRS_SUMMARY_SCHEMA,
  REVIEW_SCHEMA,
  REVIEW_SUMMARY_SCHEMA,
  ROLLOUT_SCHEMA,
  ROLLOUT_SUMMARY_SCHEMA,
  SAMPLES,
  STATE,
  SUMMARY_SCHEMA,
  TRAIN_SCHEMA,
  TRAIN_SUMMARY_SCHEMA,
  TRAJECTORIES,
} from "./artifacts.ts";

export interface KindDescription {
  /** Schemas of manifest.json and summary.json; kinds with the same ones may replace each other. */
  readonly manifest: string;
  readonly summary: string;
  /** Tells kinds with the same schemas apart. */
  readonly loop?: "A" | "B" | "C";
  readonly name: string;
  /** The file by which an interrupted run is continued; without one, it starts over. */
  readonly resumesFrom?: string;
  /** Its own command continues it, without --resume. */
  readonly continues?: true;
  /** Whether --resume takes a finished run as done. */
  readonly resumesFinished?: boolean;
  /** What only an unfinished run needs; removed when it is finished. */
  readonly transient?: readonly string[];
  /** What to do with a finished one. */
  next(dir: string): string;
  /** What there is of an unfinished one. */
  saved?(dir: string): string;
}

const scored = {
  manifest: MANIFEST_SCHEMA,
  summary: SUMMARY_SCHEMA,
  next: (dir: string) =>
    `Show it with inspect-run --run ${dir}, or compare it with another run with gate.`,
};

export const KINDS = {
  eval: { ...scored, loop: "A", name: "evaluation" },
  select: { ...scored, loop: "B", name: "selection" },
  experiment: { ...scored, loop: "C", name: "tabular experiment" },
  rollout: {
    manifest: ROLLOUT_SCHEMA,
    summary: ROLLOUT_SUMMARY_SCHEMA,
    name: "rollout",
    resumesFrom: JOURNAL,
    resumesFinished: true,
    transient: [JOURNAL],
    next: nextOfRollout,
  },
  pairs: {
    manifest: PAIRS_SCHEMA,
    summary: PAIRS_SUMMARY_SCHEMA,
    name: "preference dataset",
    next: (dir) =>
      `Train on it: train dpo --dataset ${path.join(dir, "pairs.jsonl")}, or train kto --dataset ${path.join(dir, "labels.jsonl")}.`,
  },
  review: {
    manifest: REVIEW_SCHEMA,
    summary: REVIEW_SUMMARY_SCHEMA,
    name: "review",
    resumesFrom: MANIFEST,
    continues: true,
    resumesFinished: true,
    next: (dir) =>
      `Show it with review --summary --outdir ${dir}, or audit a judge with its labels: judge-audit --pairs ${path.join(dir, "pairs.jsonl")}.`,
    saved: (dir) => `Its labels so far are shown by review --summary --outdir ${dir}.`,
  },
  train: {
    manifest: TRAIN_SCHEMA,
    summary: TRAIN_SUMMARY_SCHEMA,
    name: "training run",
    resumesFrom: MANIFEST,
    transient: [STATE],
    next: (dir) =>
      `Show it with report --run ${dir}; its policy is ${path.join(dir, "checkpoint")}, which rollout samples from.`,
    saved: (dir) => `What it saved last is ${path.join(dir, "checkpoint")}.`,
  },
  "judge-audit": {
    manifest: JUDGE_AUDIT_MANIFEST_SCHEMA,
    summary: JUDGE_AUDIT_SUMMARY_SCHEMA,
    name: "judge audit",
    next: (dir) =>
      `Write its page with report --run ${dir}; its findings are in ${path.join(dir, "audit.json")}.`,
  },
} as const satisfies Record<string, KindDescription>;

function nextOfRollout(dir: string): string {
  if (existsSync(path.join(dir, JUDGEMENTS)))
    return `Select its best episodes with selection-demo (--trajectories ${dir} --n N), or show them with inspect-run --run ${dir}.`;
  if (existsSync(path.join(dir, TRAJECTORIES)))
    return `Evaluate its episodes with eval (--trajectories ${dir}) or selection-demo (--trajectories ${dir} --n N).`;
  return `Score its completions with eval (--completions ${path.join(dir, COMPLETIONS)}), or with selection-demo where each example has several (--samples ${path.join(dir, SAMPLES)}).`;
}

export type RunKind = keyof typeof KINDS;

export const describeKind = (kind: RunKind): KindDescription => KINDS[kind];

/** "a rollout", "an evaluation", "an unfinished training run". */
export function aRun(kind: RunKind, finished = true): string {
  const { name } = KINDS[kind];
  if (!finished) return `an unfinished ${name}`;
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}

/** What to do with a run, as a sentence. */
export function nextStep(kind: RunKind, finished: boolean, dir: string): string {
  const { next, resumesFrom, continues, saved }: KindDescription = KINDS[kind];
  if (finished) return next(dir);
  const first = `Finish it first: run its command again${resumesFrom && !continues ? " with --resume" : ""}.`;
  return saved ? `${first} ${saved(dir)}` : first;
}

export function isRunKind(name: string): name is RunKind {
  return Object.hasOwn(KINDS, name);
}

/** The kind of run that a manifest or a summary belongs to. */
export function kindOfRecord(record: JsonObject | undefined): RunKind | undefined {
  return (Object.keys(KINDS) as RunKind[]).find((kind) => {
    const { manifest, summary, loop }: KindDescription = KINDS[kind];
    const isIts = record?.schema === manifest || record?.schema === summary;
    return isIts && (loop === undefined || loop === record.loop);
  });
}
