/**
 * Coverage-guided search: completions that reach new blocks of the scorer's code are kept and edited
 * further. Coverage is read once for each batch; only a batch with something new is divided to find
 * the completions that reached it.
 */

import type { Rng } from "../core/rng.ts";
import { type CheckedScore, passes } from "../core/score.ts";
import type { Target } from "./attack.ts";
import type { Coverage } from "./coverage.ts";
import type { RandomEffort } from "./effort.ts";
import { severalSighting, troubleSighting, wrongSighting } from "./oracle.ts";
import { couldState } from "./readings.ts";
import { differ } from "./targets.ts";
import { applyEdits, pick, randomEdit } from "./text-edits.ts";

export interface Entry {
  readonly target: Target;
  readonly completion: string;
}

export interface Search extends RandomEffort {
  readonly coverage: Coverage | undefined;
  readonly targets: readonly Target[];
  /** Where the search starts; never empty. */
  readonly seeds: readonly Entry[];
}

const SMALLEST_BATCH = 256;
const LARGEST_BATCH = 4096;
/** Of an edited completion, in UTF-16 units. */
const LONGEST = 300;
const NEWEST = 4;
const WHERE = "coverage_search";

const leftOf = ({ subject, inputs }: Search) => inputs - subject.counts.search;

/** The completions that were kept. */
export async function searchForFinds(search: Search): Promise<Entry[]> {
  const { subject, rng } = search;
  const seeds = search.seeds.filter(({ completion }) => completion.length <= LONGEST);
  const kept: Entry[] = [];
  const answers = new Map(search.targets.map((target) => [target.answer, target]));
  const left = () => leftOf(search);
  let size = SMALLEST_BATCH;
  const tried = async (batch: readonly Entry[]) => {
    await score(search, batch, answers);
    const fresh = search.coverage?.take();
    if (search.coverage && fresh && fresh.size > 0) {
      const { coverage } = search;
      await subject.during("coverage", () => locate(search, coverage, batch, kept));
      search.coverage.keep(fresh); // Also what only the comparison with other examples reached.
    }
    // News are many at first and few later: a larger batch reads the coverage less often.
    size = fresh && fresh.size > 0 ? SMALLEST_BATCH : Math.min(size * 2, LARGEST_BATCH);
  };
  search.coverage?.take(); // What ran before the search is not its own.
  for (let at = 0; at < seeds.length && left() > 0; ) {
    const batch = seeds.slice(at, at + Math.min(size, left()));
    at += batch.length;
    await tried(batch);
  }
  // The newest that were kept lie next to code that nothing has reached yet.
  const pool = () => {
    const choice = rng.below(4);
    if (kept.length === 0 || choice === 0) return seeds;
    return choice === 1 ? kept : kept.slice(-NEWEST);
  };
  while (left() > 0 && !subject.hung && !search.stop() && seeds.length > 0) {
    const batch = Array.from({ length: Math.min(size, left()) }, () =>
      edited(pick(pool(), rng), pick(seeds, rng), search),
    );
    await tried(batch);
  }
  return kept;
}

function edited(parent: Entry, other: Entry, { rng, words, targets }: Search): Entry {
  const text = parent.completion;
  const source = rng.below(12) === 0 ? splice(text, other.completion, rng) : text;
  const edits = Array.from({ length: 1 + rng.below(3) }, () => randomEdit(source, rng, words));
  const completion = applyEdits(source, edits).slice(0, LONGEST);
  return { completion, target: rng.below(16) === 0 ? pick(targets, rng) : parent.target };
}

function splice(a: string, b: string, rng: Rng): string {
  return a.slice(0, rng.below(a.length + 1)) + b.slice(rng.below(b.length + 1));
}

/** Those of the batch that reach blocks which nothing reached before, in order. */
async function locate(
  search: Search,
  coverage: Coverage,
  batch: readonly Entry[],
  kept: Entry[],
): Promise<void> {
  const within = async (part: readonly Entry[]): Promise<void> => {
    await search.subject.score(part.map(requestOf));
    const fresh = coverage.take();
    if (fresh.size === 0) return;
    const [only] = part;
    if (part.length === 1 && only) {
      coverage.keep(fresh);
      kept.push(only);
      return;
    }
    const middle = part.length >> 1;
    await within(part.slice(0, middle));
    await within(part.slice(middle));
  };
  await within(batch);
}

const requestOf = ({ target, completion }: Entry) => ({ example: target.example, completion });

async function score(
  search: Search,
  batch: readonly Entry[],
  answers: ReadonlyMap<string, Target>,
): Promise<void> {
  const { subject, targets, rng, finds } = search;
  const scores = await subject.score(batch.map(requestOf));
  const rivals: { entry: Entry; score: CheckedScore; other: Target }[] = [];
  for (const [i, entry] of batch.entries()) {
    const score = scores[i] as CheckedScore;
    const { target, completion } = entry;
    if (score.reward === null) {
      const where = { attack_class: WHERE, attack: `${score.code} ${shape(completion)}` };
      const trouble = troubleSighting(subject, target, completion, score, where);
      if (trouble) finds.add(trouble);
      continue;
    }
    if (!passes(score.reward)) continue;
    if (!couldState(completion, target)) {
      const where = { attack_class: WHERE, attack: `states no answer ${shape(completion)}` };
      finds.add(wrongSighting(subject, target, { completion }, score, where));
    }
    for (const other of rivalsOf(entry, answers, targets, rng))
      rivals.push({ entry, score, other });
  }
  const compared = rivals.slice(0, leftOf(search));
  const others = await subject.score(
    compared.map(({ entry, other }) => requestOf({ ...entry, target: other })),
  );
  for (const [i, { entry, score, other }] of compared.entries()) {
    if (!passes((others[i] as CheckedScore).reward)) continue;
    const where = { attack_class: WHERE, attack: `several answers ${shape(entry.completion)}` };
    finds.add(severalSighting(subject, [entry.target, other], entry.completion, score, where));
  }
}

/** Examples with another answer that the completion might pass for: one at random, those it names. */
function rivalsOf(
  { target, completion }: Entry,
  answers: ReadonlyMap<string, Target>,
  targets: readonly Target[],
  rng: Rng,
): Target[] {
  const named = (completion.match(/-?[0-9]+/g) ?? [])
    .slice(0, 8)
    .flatMap((text) => [answers.get(text), answers.get(text.replace("-", ""))]);
  return [pick(targets, rng), ...named]
    .filter((other) => other !== undefined)
    .filter((other) => differ(target, other))
    .slice(0, 3);
}

/** Completions of one shape are one find. */
export function shape(text: string): string {
  return text
    .slice(0, 60)
    .replace(/[0-9]+/g, "0")
    .replace(/[A-Za-z]+/g, "a");
}
