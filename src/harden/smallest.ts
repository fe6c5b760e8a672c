/** Finds as they are reported: each as small as possible, and each completion once. */

import type { HardenFind } from "../runs/harden-report.ts";
import { type Finds, kindsOf, type Sighting } from "./finds.ts";
import { minimalText } from "./minimise.ts";
import { shape } from "./search.ts";
import type { Subject } from "./subject.ts";

export async function smallestFinds(
  finds: Finds,
  subject: Subject,
  onFind: (done: number, all: number) => void,
): Promise<HardenFind[]> {
  const entries = finds.entries();
  const found = new Map<string, HardenFind>();
  const shapes = new Map<string, string>();
  for (const [index, { sighting, times }] of entries.entries()) {
    if (subject.hung) await subject.reopen();
    const find = await smallest(sighting, times);
    // What the search finds has no kind of its own: completions of one shape are one find.
    const like = `${find.problem} ${shape(find.completion)}`;
    const own = JSON.stringify([find.id, find.completion]);
    const searched = find.attack_class === "coverage_search";
    const key = (searched ? shapes.get(like) : undefined) ?? own;
    if (searched) shapes.set(like, key);
    const known = found.get(key);
    found.set(key, known ? joined(known, find) : find);
    onFind(index + 1, entries.length);
  }
  return [...found.values()];
}

async function smallest(sighting: Sighting, times: number): Promise<HardenFind> {
  const { still, smaller, payload, completion } = sighting;
  const small = still ? await minimalText(completion, still, payload) : completion;
  const changed = small === completion ? undefined : await smaller?.(small);
  return { ...reported(sighting, times), completion: small, ...changed };
}

/** A sighting as it was made. */
export function reported(
  { still, smaller, payload, attack, ...find }: Sighting,
  times: number,
): HardenFind {
  const searched = find.attack_class === "coverage_search";
  return { ...find, attack: searched ? "an edited completion" : attack, times, also: [] };
}

function joined(known: HardenFind, find: HardenFind): HardenFind {
  const said = kindsOf(known).map((kind) => JSON.stringify(kind));
  const [kind] = kindsOf(find);
  const fresh = kind && !said.includes(JSON.stringify(kind)) ? [kind] : [];
  return { ...known, times: known.times + find.times, also: [...known.also, ...fresh] };
}
