/** Episodes of a run that were not played with its seed: with enough seeds any policy has good games. */

import { EpisodeSeed } from "../core/episode-seed.ts";
import { visible } from "../core/visible.ts";
import type { Reason } from "../runs/gate-report.ts";
import type { Manifest, ResultRow } from "../runs/schemas.ts";

const FIRST_IDS = 5;

export class EpisodeSeeds {
  readonly #seed: EpisodeSeed;
  readonly #firstIds: string[] = [];
  #rows = 0;

  constructor({ sampling }: Pick<Manifest, "sampling">) {
    this.#seed = new EpisodeSeed(sampling?.seed);
  }

  get differing() {
    return this.#rows === 0 ? null : { rows: this.#rows, first_ids: this.#firstIds };
  }

  add({ id, sample, samples, episode }: ResultRow): void {
    if (!episode) return;
    // A selection keeps the chosen episode, which may be any of the pack.
    const isOwn = samples !== undefined || episode.sample === (sample ?? 0);
    if (isOwn && this.#seed.played({ ...episode, id })) return;
    this.#rows++;
    if (this.#firstIds.length < FIRST_IDS) this.#firstIds.push(visible(id));
  }
}

export function notOfSeed([baseline, candidate]: readonly [EpisodeSeeds, EpisodeSeeds]): Reason[] {
  const [before, after] = [baseline.differing, candidate.differing];
  if (before === null && after === null) return [];
  return [
    {
      code: "episodes_not_of_seed",
      message:
        "A run has episodes that were not played with its seed, or not as the samples that they are said to be: games may have been chosen by their results. Make the rollout again and evaluate it.",
      baseline: before ?? "of its seed",
      candidate: after ?? "of its seed",
    },
  ];
}
