/**
 * Where the randomness of an episode lies. It is not a matter of the policy, so that two policies meet
 * the same games.
 */

import { type Coordinate, type Rng, rngAt } from "./rng.ts";

export type EpisodeAddress = readonly Coordinate[];

/** Of one of a task's episodes, under the seed of the sampling settings. */
export function episodeAddress(seed: Coordinate, id: string, sample: number): EpisodeAddress {
  return [seed, "episode", id, sample];
}

/** What the environment is reset with. */
export function environmentRng(address: EpisodeAddress): Rng {
  return rngAt(...address, "environment");
}

/** What a turn of the policy is sampled at, counted from 0. */
export function turnAddress(address: EpisodeAddress, turn: number): EpisodeAddress {
  return turn === 0 ? address : [...address, "turn", turn];
}
