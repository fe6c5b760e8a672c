/**
 * Makes preference data out of a pack of samples: scores every different sample with the scorer of
 * Loop A, pairs better with worse ones of the same prompt, and labels each as good or bad. What has
 * no reward is never a zero: it is counted, and neither paired nor labelled. Left out: learning from
 * the pairs, which is Loop C's.
 */

import { FINGERPRINT_VERSION } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import {
  type Example,
  type ExampleFields,
  type SelectionPack,
  toExample,
  toSelectionPack,
} from "../core/records.ts";
import { type GuardedScorer, passes } from "../core/score.ts";
import { LABELS, PAIRS, PAIRS_SCHEMA } from "../runs/artifacts.ts";
import { type FinishedPairs, finishPairs } from "../runs/finished-pairs.ts";
import { observeOccasion } from "../runs/manifest.ts";
import type { LabelRow, PairRow } from "../runs/preference-schemas.ts";
import { readProvenance } from "../runs/provenance.ts";
import { filesAmong, openRows, type RowSource } from "../runs/rows.ts";
import { RunFolder } from "../runs/run-folder.ts";
import { withScorer } from "../scorers/open.ts";
import { ExampleFingerprints } from "./examples.ts";
import { inOrder } from "./in-order.ts";
import { pair, type Unknown } from "./join.ts";
import {
  choosePairs,
  type PairCandidate,
  type PairSettings,
  type Preference,
} from "./pairs-choose.ts";
import { scorePacks } from "./pairs-score.ts";
import { PairsTally } from "./pairs-tally.ts";
import type { ScoringOptions } from "./scoring-options.ts";

/**
 * What `makePairs` is given.
 *
 * @see {@link makePairs}
 */
export interface PairsOptions<F extends object = ExampleFields>
  extends PairSettings,
    ScoringOptions<F> {
  /** Packs of samples: id, samples. */
  readonly rollouts: RowSource<SelectionPack>;
  readonly outdir: string;
  /** Replace finished pairs. */
  readonly force?: boolean | undefined;
}

/** Few, because each brings many samples and all of them are alive while they are scored. */
const PACKS_AT_ONCE = 16;

/**
 * Scores packs of samples and writes preference pairs and labels.
 *
 * @example
 * ```ts
 * import { makePairs } from "lockedroom";
 *
 * const { summary } = await makePairs({
 *   dataset: "dataset.jsonl",
 *   rollouts: "samples.jsonl",
 *   outdir: "runs/pairs",
 *   by: "best-worst",
 *   margin: 0,
 *   lengthTolerance: null,
 *   perPrompt: 1,
 * });
 * console.log(summary.n_pairs, summary.n_labels);
 * ```
 */
export async function makePairs<F extends object = ExampleFields>(
  options: PairsOptions<F>,
): Promise<FinishedPairs> {
  return withScorer(options.scorer, options, (scorer) => makePairsWith(scorer, options));
}

async function makePairsWith<F extends object>(
  scorer: GuardedScorer,
  options: PairsOptions<F>,
): Promise<FinishedPairs> {
  const occasion = observeOccasion();
  const folder = await RunFolder.open(options.outdir, "pairs", {
    force: options.force,
    inputs: filesAmong(options.dataset, options.rollouts),
  });
  try {
    const pairs = await folder.lines(PAIRS);
    const labels = await folder.lines(LABELS);
    const dataset = openRows(options.dataset, "dataset", toExample, options);
    const packs = openRows(options.rollouts, "rollouts", toSelectionPack, options);
    const unknown: Unknown = { count: 0, first_ids: [] };
    const examples = new ExampleFingerprints();
    const tally = new PairsTally();
    const judged = inOrder(
      examples.watch(pair(dataset, packs, unknown, PACKS_AT_ONCE)),
      scorer.concurrency,
      (batch) => scorePacks(scorer, batch),
    );
    for await (const batch of judged) {
      for (const pack of batch) {
        const choice = choosePairs(pack.candidates, options);
        tally.add(pack, choice);
        for (const one of choice.pairs) pairs.add(canonicalJson(pairRow(pack.example, one)));
        for (const one of pack.candidates) labels.add(canonicalJson(labelRow(pack.example, one)));
      }
      await pairs.flush();
      await labels.flush();
    }
    const provenance = await readProvenance(packs);
    return await finishPairs(
      folder,
      {
        schema: PAIRS_SCHEMA,
        fingerprint_version: FINGERPRINT_VERSION,
        command: "pairs",
        inputs: [dataset.asInput("dataset"), packs.asInput("samples")],
        examples: examples.identity(),
        scorer: scorer.identity,
        policy: provenance?.policy ?? null,
        prompt: provenance?.prompt ?? null,
        sampling: provenance?.sampling ?? null,
        settings: {
          by: options.by,
          margin: options.margin,
          length_tolerance: options.lengthTolerance,
          per_prompt: options.by === "all" ? options.perPrompt : 1,
          scorer_timeout_ms: scorer.timeoutMs,
        },
        volatile: { ...(await occasion()), jobs: scorer.concurrency },
      },
      { ...tally.counted, unknown_packs: unknown },
    );
  } catch (error) {
    await folder.leave();
    throw error;
  }
}

function pairRow({ id, prompt }: Example, { chosen, rejected }: Preference): PairRow {
  return {
    ...{ id, prompt },
    chosen: chosen.completion,
    rejected: rejected.completion,
    chosen_reward: chosen.reward,
    rejected_reward: rejected.reward,
  };
}

function labelRow({ id, prompt }: Example, { completion, reward }: PairCandidate): LabelRow {
  return { id, prompt, completion, label: passes(reward), reward };
}
