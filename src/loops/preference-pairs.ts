/**
 * Makes preference data out of a pack of samples: scores every different sample with the scorer of
 * Loop A, pairs better with worse ones of the same prompt, and labels each as good or bad. What has
 * no reward is never a zero: it is counted, and neither paired nor labelled. Left out: learning from
 * the pairs, which is Loop C's.
 */

import { canonicalJson } from "../core/json.ts";
import {
  type Example,
  type ExampleFields,
  type SelectionPack,
  toSelectionPack,
} from "../core/records.ts";
import { passes } from "../core/score.ts";
import { LABELS, NOTE, PAIRS, PAIRS_SCHEMA, PAIRS_SUMMARY_SCHEMA } from "../runs/artifacts.ts";
import { manifestFingerprint } from "../runs/manifest.ts";
import { pairsFacts } from "../runs/note-facts.ts";
import type { LabelRow, PairRow, PairsManifest, PairsSummary } from "../runs/preference-schemas.ts";
import type { RowSource } from "../runs/rows.ts";
import type { Finished } from "../runs/run-folder.ts";
import { runNote, stamped } from "../runs/run-note.ts";
import {
  choosePairs,
  type PairCandidate,
  type PairSettings,
  type Preference,
} from "./preference-choice.ts";
import { candidatesOf, PairsTally } from "./preference-tally.ts";
import { PACKS_AT_ONCE, scorePacks } from "./score-packs.ts";
import { type ScoringOptions, withScoringRun } from "./scoring-run.ts";

/** What `makePairs` is given. @see {@link makePairs} */
export interface PairsOptions<F extends object = ExampleFields>
  extends PairSettings,
    ScoringOptions<F> {
  /** Packs of samples: id, samples. */
  readonly rollouts: RowSource<SelectionPack>;
  readonly outdir: string;
  /** Replace finished pairs. */
  readonly force?: boolean | undefined;
}

export interface FinishedPairs extends Finished<PairsManifest, PairsSummary> {
  /** The file of pairs, for `train dpo`. */
  readonly pairs: string;
  /** The file of labels, for `train kto`. */
  readonly labels: string;
}

/**
 * Scores packs of samples and writes preference pairs and labels.
 * @example
 * ```ts
 * import { makePairs } from "lockedroom";
 * const { summary } = await makePairs({
 *   dataset: "dataset.jsonl",
 *   rollouts: "samples.jsonl",
 *   outdir: "runs/pairs",
 *   ...{ by: "best-worst", margin: 0, lengthTolerance: null, perPrompt: 1 },
 * });
 * console.log(summary.n_pairs, summary.n_labels);
 * ```
 */
export async function makePairs<F extends object = ExampleFields>(
  options: PairsOptions<F>,
): Promise<FinishedPairs> {
  const { by, margin, lengthTolerance, perPrompt } = options;
  const answers = {
    rows: options.rollouts,
    ...{ label: "rollouts", role: "samples" as const, parse: toSelectionPack },
    batchSize: PACKS_AT_ONCE,
  };
  return withScoringRun("pairs", options, answers, async ({ folder, scorer, ...run }) => {
    const pairs = await folder.lines(PAIRS);
    const labels = await folder.lines(LABELS);
    const tally = new PairsTally();
    const concrete: PairRow[] = [];
    for await (const batch of run.scored((packs) => scorePacks(scorer, packs))) {
      for (const pack of batch) {
        const found = candidatesOf(pack);
        const choice = choosePairs(found.candidates, options);
        tally.add(found, choice);
        for (const one of choice.pairs) {
          const row = pairRow(pack.example, one);
          pairs.add(canonicalJson(row));
          if (concrete.length < 2) concrete.push(row);
        }
        for (const one of found.candidates) labels.add(canonicalJson(labelRow(pack.example, one)));
      }
      await pairs.flush();
      await labels.flush();
    }
    const manifest: PairsManifest = {
      ...(await run.describe()),
      ...{ schema: PAIRS_SCHEMA, command: "pairs" },
      settings: {
        ...{ by, margin, length_tolerance: lengthTolerance },
        per_prompt: by === "all" ? perPrompt : 1,
        scorer_timeout_ms: scorer.timeoutMs,
      },
    };
    const { name, version } = scorer.identity;
    const summary: PairsSummary = {
      schema: PAIRS_SUMMARY_SCHEMA,
      scorer: { name, version },
      ...tally.counts,
      unknown_packs: run.unknown,
      files: await folder.seal(),
      manifest_sha256: manifestFingerprint(manifest),
    };
    const finished = await folder.finish(manifest, summary, {
      [NOTE]: stamped(runNote(pairsFacts(manifest, summary, concrete))),
    });
    return { ...finished, pairs: folder.file(PAIRS), labels: folder.file(LABELS) };
  });
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
