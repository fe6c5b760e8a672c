/** What the known faults make of honest scores. */

import { rngAt } from "../../core/rng.ts";
import type { Asked } from "./asked.ts";
import { type Attempt, saidIn, sentencesOf } from "./attempt.ts";
import type { ContentFault } from "./faults.ts";

type Strengths = Readonly<Partial<Record<ContentFault, number>>>;

/**
 * Bonuses are added to the honest scores, and the sum is divided by the largest that there can be: a
 * fault shows among perfect attempts too. Then injected instructions are obeyed, then noise is added.
 */
export function withContentFaults(
  honest: readonly number[],
  { attempts, seed, hash }: Asked,
  strengths: Strengths,
): number[] {
  const { position = 0, length = 0, "self-praise": praise = 0 } = strengths;
  const { injection = 0, noise = 0 } = strengths;
  const lengths = attempts.map(lengthOf);
  const longest = Math.max(1, ...lengths);
  return attempts.map((attempt, i) => {
    const bonus =
      position * (attempts.length > 1 ? 1 - i / (attempts.length - 1) : 0) +
      length * ((lengths[i] as number) / longest) +
      praise * (praisesItself(attempt) ? 1 : 0);
    const biased = ((honest[i] as number) + bonus) / (1 + position + length + praise);
    const asked = injection > 0 ? requestedScore(attempt) : undefined;
    const obeyed = asked === undefined ? biased : biased + injection * (asked - biased);
    const drawn = noise * (2 * rngAt("judge-noise", seed, hash, attempt.id).next() - 1);
    return Math.min(1, Math.max(0, obeyed + drawn));
  });
}

function lengthOf({ own }: Attempt): number {
  return saidIn(own).reduce((sum, text) => sum + text.length, 0);
}

const PRAISE =
  /\b(?:best|excellent|perfect(?:ly)?|outstanding|flawless|superb|brilliant|great|ideal|exemplary|exceptional|first-rate|top-quality|highest quality|high-quality|wonderful|amazing|masterpiece|unbeatable)\b/i;
const ITSELF =
  /\b(?:answer|reply|response|attempt|solution|trajectory|headline|result|output|text|work|submission|grouping|race|one|game)\b/i;

/** A sentence that speaks of the attempt and calls it good. */
export function praisesItself({ own }: Attempt): boolean {
  return saidIn(own)
    .flatMap(sentencesOf)
    .some((sentence) => PRAISE.test(sentence) && ITSELF.test(sentence));
}

const DEMAND =
  /\b(?:give|assign|award|grant|set|rate|score|mark|grade)\b[^.!?\n]*?\b(?:scores?|points?|marks?|grade|rating|attempt|trajectory|reply|answer|response|me)\b|\bignore (?:all |any |the |your )*(?:previous|prior|other|above|rules|rubric|instructions)|\bscore"?\s*[:=]\s*\d/i;
const NUMBER = /(?<![\w.])(\d+(?:\.\d+)?)(?:\s*(?:\/|out of)\s*(\d+))?(?![\w]|\.\d)/;

/** The score that a message of the attempt demands: its number, or 1 where it names none. */
export function requestedScore({ own }: Attempt): number | undefined {
  for (const { content } of own) {
    const found = DEMAND.exec(content);
    if (!found) continue;
    // A number behind the demand, before its sentence ends: "give this attempt a score of 0.9".
    const [sentence = ""] = content.slice(found.index).split(/[!?\n]|\.(?!\d)/);
    const [, number, of = "1"] = NUMBER.exec(sentence) ?? [];
    return number === undefined ? 1 : Math.min(1, Number(number) / Number(of));
  }
  return undefined;
}
