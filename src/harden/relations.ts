/** Relations that a scorer must keep, declared by the user: what a change of the text may do. */

import { dataError, messageOf } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import type { CheckedScore } from "../core/score.ts";
import { importUserModule } from "../extensions/module.ts";
import { withinLimit } from "../extensions/within-limit.ts";
import type { HardenReport } from "../runs/harden-report.ts";
import type { Finds, Sighting } from "./finds.ts";
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
    const compared = (some: readonly Entry[]) => compare(subject, relation, some, timeoutMs);
    let [checked, broken] = [0, 0];
    for (let from = 0; from < ordered.length && !subject.hung; from += BATCH) {
      const some = ordered.slice(from, from + BATCH);
      const found = await compared(some);
      checked += some.length;
      const at = found.findIndex((one) => one.broken);
      if (broken === 0 && at >= 0) finds.add(await shown(relation, some[at] as Entry, compared));
      broken += found.filter((one) => one.broken).length;
    }
    report.push({ name: relation.name, expect: relation.expect, checked, broken });
  }
  return report;
}

const BATCH = 128;

interface Compared {
  /** The completion after the change. */
  readonly other: string;
  readonly before: CheckedScore;
  readonly after: CheckedScore;
  readonly broken: boolean;
}

async function compare(
  subject: Subject,
  relation: Relation,
  entries: readonly Entry[],
  timeoutMs: number,
): Promise<Compared[]> {
  const others = entries.map(({ completion }) => transformed(relation, completion, timeoutMs));
  const scores = await subject.score(
    entries.flatMap(({ target: { example }, completion }, i) => [
      { example, completion },
      { example, completion: others[i] as string },
    ]),
  );
  return others.map((other, i) => {
    const [before, after] = scores.slice(2 * i, 2 * i + 2) as [CheckedScore, CheckedScore];
    return { other, before, after, broken: isBroken(relation, before, after) };
  });
}

async function shown(
  { name, expect }: Relation,
  { target, completion: first }: Entry,
  compared: (entries: readonly Entry[]) => Promise<Compared[]>,
): Promise<Sighting> {
  const one = async (completion: string) =>
    (await compared([{ target, completion }]))[0] as Compared;
  const completion = await minimalText(first, async (text) => (await one(text)).broken);
  const { other, before, after } = await one(completion);
  return {
    ...{ attack_class: "relations", attack: name, problem: "relation_broken" },
    ...{ id: target.example.id, completion: other, expected_reward: before.reward ?? 0 },
    ...{ reward: after.reward, code: after.code },
    why: `${JSON.stringify(completion)} gets ${before.reward}, after the change ${after.reward}; declared: ${expect}.`,
  };
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
