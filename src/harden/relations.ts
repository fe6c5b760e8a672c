/** Relations that a scorer must keep, declared by the user: what a change of the text may do. */

import { dataError, messageOf } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import type { CheckedScore } from "../core/score.ts";
import { importUserModule, withinLimit } from "../extensions/module.ts";
import type { HardenReport } from "../runs/harden-report.ts";
import type { Finds } from "./finds.ts";
import { minimalText } from "./minimise.ts";
import type { Entry } from "./search.ts";
import type { Subject } from "./subject.ts";

/**
 * A change of a completion and what it may do to the reward.
 * @see {@link harden}
 */
export interface Relation {
  readonly name: string;
  readonly expect: "same" | "not_higher";
  transform(completion: string): string;
}

/** Those that a file exports as `relations`; a scorer's file may have none. */
export async function relationsOf(file: string, required: boolean): Promise<Relation[]> {
  const { exports } = await importUserModule(file, required ? "relations file" : "scorer");
  const inner = exports.default as Record<string, unknown> | undefined;
  const found = exports.relations ?? inner?.relations;
  if (found === undefined && !required) return [];
  if (!Array.isArray(found))
    throw dataError(
      `${file} has no list \`relations\``,
      "Export relations: [{ name, transform, expect }].",
    );
  return found.map((one: unknown, index) => {
    if (isRelation(one)) return one;
    throw dataError(
      `${file}: relation ${index + 1} is not { name, transform, expect }`,
      '`transform` takes a completion and returns one; `expect` is "same" or "not_higher".',
    );
  });
}

function isRelation(one: unknown): one is Relation {
  if (!isFields(one)) return false;
  const { name, expect, transform } = one;
  return (
    typeof name === "string" &&
    name !== "" &&
    (expect === "same" || expect === "not_higher") &&
    typeof transform === "function"
  );
}

export interface RelationRun {
  readonly subject: Subject;
  readonly relations: readonly Relation[];
  readonly entries: readonly Entry[];
  readonly finds: Finds;
  readonly timeoutMs: number;
}

export async function checkRelations({
  subject,
  relations,
  entries,
  finds,
  timeoutMs,
}: RelationRun): Promise<HardenReport["relations"]> {
  // The shortest first, so that a broken relation is shown on a short text.
  const ordered = entries.toSorted((a, b) => a.completion.length - b.completion.length);
  const report: HardenReport["relations"] = [];
  for (const relation of relations) {
    const { name, expect } = relation;
    const rewards = async ({ target: { example }, completion }: Entry) => {
      const other = transformed(relation, completion, timeoutMs);
      const scores = await subject.score(
        [completion, other].map((text) => ({ example, completion: text })),
      );
      const [before, after] = scores as [CheckedScore, CheckedScore];
      return { other, before, after, broken: isBroken(relation, before, after) };
    };
    let [checked, broken] = [0, 0];
    for (const entry of ordered) {
      if (subject.hung) break;
      checked++;
      if (!(await rewards(entry)).broken) continue;
      broken++;
      if (broken > 1) continue;
      const { target } = entry;
      const completion = await minimalText(
        entry.completion,
        async (text) => (await rewards({ target, completion: text })).broken,
      );
      const { other, before, after } = await rewards({ target, completion });
      finds.add({
        ...{ attack_class: "relations", attack: name, problem: "relation_broken" },
        ...{ id: target.example.id, completion: other, expected_reward: before.reward ?? 0 },
        ...{ reward: after.reward, code: after.code },
        why: `${JSON.stringify(completion)} gets ${before.reward}, after the change ${after.reward}; declared: ${expect}`,
      });
    }
    report.push({ name, expect, checked, broken });
  }
  return report;
}

function isBroken({ expect }: Relation, before: CheckedScore, after: CheckedScore): boolean {
  if (before.reward === null || after.reward === null) return false;
  return expect === "same" ? before.reward !== after.reward : after.reward > before.reward;
}

function transformed({ name, transform }: Relation, completion: string, limitMs: number): string {
  let result: unknown;
  let inTime = false;
  try {
    inTime = withinLimit(() => {
      result = transform(completion);
    }, limitMs);
  } catch (error) {
    throw dataError(
      `the relation "${name}" threw: ${messageOf(error)}`,
      "Its transform must return a text for any completion.",
    );
  }
  if (inTime && typeof result === "string") return result;
  throw dataError(
    inTime
      ? `the relation "${name}" returned no text`
      : `the relation "${name}" did not return within ${limitMs} ms`,
    "Its transform must return a text for any completion.",
  );
}
