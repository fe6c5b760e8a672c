/**
 * Writes a tabular experiment as a run: the final policy is evaluated on episodes with fixed seeds,
 * so that the gate can compare two runs row by row.
 */

import { fileURLToPath } from "node:url";
import { FINGERPRINT_VERSION, fingerprint } from "../../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../../core/json.ts";
import type { ScorerIdentity } from "../../core/score.ts";
import { sourceFingerprint } from "../../extensions/source.ts";
import { rowJson } from "../../loops/row.ts";
import { ExampleFingerprints } from "../../loops/scoring-run.ts";
import { Tally } from "../../loops/tally.ts";
import { MANIFEST_SCHEMA, RESULTS } from "../../runs/artifacts.ts";
import { observeOccasion } from "../../runs/manifest.ts";
import type { FolderOptions } from "../../runs/run-folder.ts";
import { RunFolder } from "../../runs/run-folder.ts";
import type { Manifest, ResultRow, Summary } from "../../runs/schemas.ts";
import { type FinishedRun, finishScoredRun } from "../../runs/scored-run.ts";
import type { Reward } from "./reward.ts";

/** The results of an experiment. */
export interface Experiment {
  readonly command: string;
  /** What scored the rows: the experiment's own rule, or a scorer of Loop A with its identity. */
  readonly reward: Reward | ScorerIdentity;
  /** Training settings: algorithm, learning rate, steps, seed. */
  readonly learning: JsonObject;
  /** The final policy's parameters; their fingerprint is its identity. */
  readonly parameters: unknown;
  readonly rows: Iterable<ResultRow>;
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly log?: Iterable<unknown>;
  readonly title: string;
  readonly happened: string;
  readonly remarks?: readonly string[];
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

const FLUSH_LINES = 1000;

/** Writes an experiment as a run of Loop C: claims the folder, then calls `make`. */
export async function writeExperiment(
  outdir: string,
  make: () => Promise<Experiment>,
  options: FolderOptions = {},
): Promise<FinishedRun> {
  const occasion = observeOccasion();
  const run = await RunFolder.open(outdir, "experiment", options);
  try {
    const results = await run.lines(RESULTS);
    const experiment = await make();
    const examples = new ExampleFingerprints();
    const tally = new Tally();
    for (const row of experiment.rows) {
      examples.add({ id: row.id, prompt: row.prompt, expected_answer: row.expected_answer });
      tally.add(row);
      results.add(rowJson(row));
    }
    if (experiment.log) {
      const log = await run.lines("log.jsonl");
      let lines = 0;
      for (const entry of experiment.log) {
        log.add(canonicalJson(entry));
        if (++lines % FLUSH_LINES === 0) await log.flush();
      }
    }
    return await finishScoredRun(run, {
      manifest: {
        ...identity(experiment),
        examples: examples.identity(),
        volatile: await occasion(),
      },
      findings: {
        metrics: { ...tally.metrics, ...experiment.metrics } as Summary["metrics"],
        outcomes: { counts: { ...tally.counts } },
        unknown_completions: { count: 0, first_ids: [] },
        alarms: [],
      },
      title: experiment.title,
      happened: experiment.happened,
      concrete: tally.twoExamples,
      ...(experiment.remarks ? { remarks: experiment.remarks } : {}),
      ...(experiment.files ? { files: experiment.files } : {}),
    });
  } catch (error) {
    await run.leave();
    throw error;
  }
}

function identity({
  command,
  reward,
  learning,
  parameters,
}: Experiment): Omit<Manifest, "examples" | "volatile"> {
  return {
    schema: MANIFEST_SCHEMA,
    fingerprint_version: FINGERPRINT_VERSION,
    loop: "C",
    command,
    inputs: [],
    answers_sha256: null,
    scorer: "module" in reward ? rewardIdentity(reward) : reward,
    prompt: null,
    sampling: { from: "the policy itself" },
    selection: null,
    policy: { kind: "tabular softmax", parameters_sha256: fingerprint(parameters) },
    learning,
    device: null,
    settings: {},
  };
}

/** The identity of a reward rule, like that of a scorer: name, version and source hash. */
export function rewardIdentity({ name, version, spec, module }: Reward): ScorerIdentity {
  return {
    name,
    version,
    spec,
    source_sha256: sourceFingerprint(fileURLToPath(module)),
    path: null,
  };
}

/** A row of results.jsonl for one evaluated episode. */
export function episodeRow(
  id: string,
  prompt: string,
  best: string,
  completion: string,
  reward: number,
  details: JsonObject,
): ResultRow {
  return {
    id,
    prompt,
    expected_answer: best,
    completion,
    reward,
    outcome_code: reward === 1 ? "paid" : "unpaid",
    details: details as ResultRow["details"],
  };
}
