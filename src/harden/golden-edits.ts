/**
 * Small edits of golden rows. An edit that changes the reward shows where the border of the scorer
 * lies; each kind of edit is listed once, made as small as possible, for a person to look at.
 */

import { type CheckedScore, passes } from "../core/score.ts";
import { visibleShort } from "../core/visible.ts";
import type { HardenEdit } from "../runs/harden-report.ts";
import type { Target } from "./attack.ts";
import type { RandomEffort } from "./effort.ts";
import { minimal } from "./minimise.ts";
import { troubleSighting, wrongSighting } from "./oracle.ts";
import { couldState } from "./readings.ts";
import type { Entry } from "./search.ts";
import { applyEdits, randomEdit, type TextEdit } from "./text-edits.ts";

export interface GoldenEdits extends RandomEffort {
  readonly rows: readonly Entry[];
}

const BATCH = 256;
const LONGEST = 2000;
/** For each direction: most edits of an accepted row make it a rejected one, as they should. */
const MOST_LISTED = 30;

export async function editGoldenRows(
  options: GoldenEdits,
): Promise<{ edits: HardenEdit[]; leftOut: number }> {
  const { subject, rng, words } = options;
  // Half of the inputs, at most, are for the rows themselves.
  const rows = options.rows
    .filter(({ completion }) => completion.length <= LONGEST)
    .slice(0, options.inputs >> 1);
  const listed = new Map<string, HardenEdit>();
  let leftOut = 0;
  if (rows.length === 0) return { edits: [], leftOut };
  const before = await subject.score(
    rows.map(({ target: { example }, completion }) => ({ example, completion })),
  );
  const left = () => options.inputs - subject.counts.golden_edits;
  for (let number = 0; left() > 0 && !subject.hung && !options.stop(); ) {
    const batch = Array.from({ length: Math.min(BATCH, left()) }, () => {
      const index = number++ % rows.length;
      const text = (rows[index] as { completion: string }).completion;
      const edits = apart(
        Array.from({ length: 1 + rng.below(3) }, () => randomEdit(text, rng, words)),
      );
      return { index, text, edits, completion: applyEdits(text, edits) };
    });
    const scores = await subject.score(
      batch.map(({ index, completion }) => ({ example: exampleAt(index), completion })),
    );
    for (const [i, { index, text, edits, completion }] of batch.entries()) {
      const score = scores[i] as CheckedScore;
      const { target } = rows[index] as { target: Target };
      record(target, completion, score);
      const reward = before[index]?.reward ?? null;
      if (reward === null || score.reward === null || score.reward === reward) continue;
      await subject.during("minimising", () => list(target, text, edits, reward));
    }
  }
  return { edits: [...listed.values()], leftOut };

  function full(higher: boolean): boolean {
    const same = [...listed.values()].filter(
      ({ reward_before, reward_after }) => reward_after > reward_before === higher,
    );
    return same.length >= MOST_LISTED;
  }

  function exampleAt(index: number) {
    return (rows[index] as { target: Target }).target.example;
  }

  function record(target: Target, completion: string, score: CheckedScore): void {
    const where = { attack_class: "golden_edits", attack: "an edited golden row" };
    const trouble = troubleSighting(subject, target, completion, score, where);
    if (trouble) options.finds.add(trouble);
    else if (passes(score.reward) && !couldState(completion, target))
      options.finds.add(wrongSighting(subject, target, { completion }, score, where));
  }

  async function list(target: Target, text: string, edits: readonly TextEdit[], reward: number) {
    const rewardOf = async (part: readonly TextEdit[]) => {
      const [score] = await subject.score([
        { example: target.example, completion: applyEdits(text, part) },
      ]);
      return score?.reward ?? null;
    };
    const changes = async (part: readonly TextEdit[]) => {
      const found = await rewardOf(part);
      return found !== null && found !== reward;
    };
    const fewest = edits.length === 1 ? edits : await minimal(edits, changes);
    const after = await rewardOf(fewest);
    if (after === null) return;
    const edit = describe(text, fewest);
    const key = JSON.stringify([edit, reward, after]);
    const known = listed.get(key);
    if (known) listed.set(key, { ...known, times: known.times + 1 });
    else if (full(after > reward)) leftOut++;
    else
      listed.set(key, {
        ...{ edit, id: target.example.id, before: text, after: applyEdits(text, fewest) },
        ...{ reward_before: reward, reward_after: after, times: 1 },
      });
  }
}

/** Edits that do not overlap, so that each can be taken back alone. */
function apart(edits: readonly TextEdit[]): TextEdit[] {
  const kept: TextEdit[] = [];
  for (const edit of edits.toSorted((a, b) => a.at - b.at)) {
    const last = kept.at(-1);
    if (!last || edit.at >= last.at + Math.max(1, last.remove)) kept.push(edit);
  }
  return kept;
}

function describe(text: string, edits: readonly TextEdit[]): string {
  return edits
    .map(({ at, remove, insert }) => {
      const removed = text.slice(at, at + remove);
      const place =
        at === 0 ? "at the start" : at + remove >= text.length ? "at the end" : "inside";
      const [gone, put] = [removed, insert].map((part) => `"${visibleShort(kindOf(part), 20)}"`);
      if (insert === "") return `delete ${gone} ${place}`;
      return removed === "" ? `insert ${put} ${place}` : `replace ${gone} with ${put} ${place}`;
    })
    .join(", ");
}

/** Every digit counts as the same. */
function kindOf(text: string): string {
  return text.replace(/[1-9]/g, "1");
}
