/** The different texts of packs, each scored once. */

import type { Example, Sample, SelectionPack } from "../core/records.ts";
import type { CheckedScore, GuardedScorer, ScoreRequest } from "../core/score.ts";
import type { Pair } from "./join.ts";
import type { PairCandidate } from "./pairs-choose.ts";

export interface ScoredPack {
  readonly example: Example;
  /** Samples that were drawn; 0 where no pack names the example, or an empty one. */
  readonly drawn: number;
  /** Different texts among them. */
  readonly different: number;
  /** Those that have a reward, in the order of drawing. */
  readonly candidates: readonly PairCandidate[];
  /** Texts on which the scorer broke: they have no reward, so nobody knows what they are. */
  readonly broken: number;
  /** Texts that nobody could judge because the example itself is wrong. */
  readonly invalid: number;
}

/** A scorer's word for an example that no answer can pass. */
const INVALID_EXAMPLE = "invalid_example";

export async function scorePacks(
  scorer: GuardedScorer,
  pairs: readonly Pair<SelectionPack>[],
): Promise<ScoredPack[]> {
  const packs = pairs.map(({ answer }) => differentTexts(answer?.samples ?? []));
  const asked = pairs.flatMap(({ example }, i): ScoreRequest[] =>
    [...(packs[i]?.keys() ?? [])].map((completion) => ({ example, completion })),
  );
  const judged = await scorer.scoreBatch(asked);
  let next = 0;
  return pairs.map(({ example, answer }, i) => {
    const texts = [...(packs[i]?.values() ?? [])];
    const own = judged.slice(next, next + texts.length);
    next += texts.length;
    return { example, drawn: answer?.samples.length ?? 0, ...sorted(texts, own) };
  });
}

type Text = Omit<PairCandidate, "reward">;

function differentTexts(samples: readonly (string | Sample)[]): Map<string, Text> {
  const texts = new Map<string, Text>();
  for (const [index, sample] of samples.entries()) {
    const completion = typeof sample === "string" ? sample : sample.completion;
    if (texts.has(completion)) continue;
    texts.set(completion, {
      ...{ index, completion },
      characters: codePoints(completion),
      tokens: tokensOf(sample),
    });
  }
  return texts;
}

function sorted(
  texts: readonly Text[],
  judged: readonly CheckedScore[],
): Omit<ScoredPack, "example" | "drawn"> {
  const candidates: PairCandidate[] = [];
  let [broken, invalid] = [0, 0];
  for (const [i, text] of texts.entries()) {
    const { reward, code } = judged[i] as CheckedScore;
    if (reward === null) broken++;
    else if (code === INVALID_EXAMPLE) invalid++;
    else candidates.push({ ...text, reward });
  }
  return { different: texts.length, candidates, broken, invalid };
}

/** As `rollout` writes it; a pack of another maker need not say. */
function tokensOf(sample: string | Sample): number | null {
  const { completion_tokens: tokens } = sample as { readonly completion_tokens?: unknown };
  return Number.isSafeInteger(tokens) && Number(tokens) >= 0 ? Number(tokens) : null;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
