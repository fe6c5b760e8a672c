/** One pass over the answers of a rollout: counted again, with their lengths and the first ones. */

import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { SUMMARY } from "../../runs/artifacts.ts";
import { openRollout } from "../../runs/read-rollout.ts";
import {
  type AnswerPack,
  answerPacks,
  promptsOf,
  type ReadAnswer,
} from "../../runs/rollout-answers.ts";
import type { RolloutManifest, RolloutSummary } from "../../runs/rollout-schemas.ts";
import { type Business, type BusinessOptions, businessOfRollout } from "../business/business.ts";
import { Histogram } from "../page/histogram.ts";
import type { Html } from "../page/html.ts";
import { verificationOf } from "../page/verification.ts";
import { answerArticle } from "./answers.ts";

/** Examples whose answers are shown. */
const EXAMPLES_SHOWN = 10;

export interface RolloutRun {
  readonly business: Business;
  readonly dir: string;
  readonly manifest: RolloutManifest;
  readonly manifestJson: JsonObject;
  readonly summary: RolloutSummary;
  readonly edited: readonly string[];
  readonly verification: string | undefined;
  /** Counted from the answers. */
  readonly answers: number;
  readonly empty: number;
  readonly refused: number;
  readonly finish: ReadonlyMap<string, number>;
  /** In tokens where every answer has its count, otherwise in characters. */
  readonly lengths: Histogram;
  readonly unit: "tokens" | "characters";
  readonly shown: readonly Html[];
  /** Whether the prompts could still be found. */
  readonly hasPrompts: boolean;
}

/** `level` is that of the headings of examples. */
export async function readRollout(
  dir: string,
  level: number,
  options: BusinessOptions,
): Promise<RolloutRun> {
  const rollout = await openRollout(dir);
  const { manifest, summary } = rollout;
  const counts = new AnswerCounts();
  const first: AnswerPack[] = [];
  for await (const batch of answerPacks(rollout).batches()) {
    for (const pack of batch) {
      for (const answer of pack.answers) counts.add(answer);
      if (first.length < EXAMPLES_SHOWN) first.push(pack);
    }
  }
  const prompts = await promptsOf(manifest, new Set(first.map(({ id }) => id)));
  const edited = await rollout.editedFiles();
  if (!counts.agreesWith(summary)) edited.push(SUMMARY);
  const isCounted = counts.tokens.count === counts.answers && counts.answers > 0;
  return {
    ...{ dir, manifest, summary, edited, business: businessOfRollout(rollout, options) },
    verification: await verificationOf(dir),
    manifestJson: JSON.parse(canonicalJson(manifest)),
    ...{ answers: counts.answers, empty: counts.empty, refused: counts.refused },
    finish: counts.finish,
    lengths: isCounted ? counts.tokens : counts.characters,
    unit: isCounted ? "tokens" : "characters",
    shown: first.map((pack) => answerArticle(pack, prompts?.get(pack.id), level)),
    hasPrompts: prompts !== undefined,
  };
}

class AnswerCounts {
  readonly finish = new Map<string, number>();
  readonly tokens = new Histogram();
  readonly characters = new Histogram();
  answers = 0;
  empty = 0;
  refused = 0;
  #prompt = 0;
  #completed = 0;

  add({ completion, finish, refusal, ...answer }: ReadAnswer): void {
    const { prompt_tokens: prompt, completion_tokens: completed } = answer;
    this.answers++;
    if (completion === "") this.empty++;
    if (refusal !== undefined) this.refused++;
    this.finish.set(finish, (this.finish.get(finish) ?? 0) + 1);
    this.#prompt += prompt ?? 0;
    this.#completed += completed ?? 0;
    if (completed !== null) this.tokens.add(completed);
    this.characters.add(completion.length);
  }

  agreesWith({ n_answers, n_empty, n_refused, finish, cost }: RolloutSummary): boolean {
    const stated = [n_answers, n_empty, n_refused, finish, cost.prompt_tokens];
    const counted = [this.answers, this.empty, this.refused, Object.fromEntries(this.finish)];
    return (
      canonicalJson([...stated, cost.completion_tokens]) ===
      canonicalJson([...counted, this.#prompt, this.#completed])
    );
  }
}
