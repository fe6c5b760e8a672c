/** Whether episodes were played with one seed: any other game may have been chosen by its result. */

import { episodeAddress } from "./episode-address.ts";
import { canonicalJson } from "./json.ts";
import type { Coordinate } from "./rng.ts";
import type { Trajectory } from "./trajectory.ts";

export class EpisodeSeed {
  /** Undefined where nothing states it; then it is that of the first episode. */
  readonly #stated: Coordinate | undefined;
  #found: { readonly seed: Coordinate | null } | undefined;

  constructor(stated: unknown) {
    this.#stated = typeof stated === "number" ? stated : undefined;
  }

  /** The seed that episodes must have. */
  get expected(): Coordinate | null {
    return this.#stated ?? this.#found?.seed ?? null;
  }

  /** Whether it was played with the seed, as this sample of this task. */
  played({ id, sample, address }: Pick<Trajectory, "id" | "sample" | "address">): boolean {
    const own = address[0] ?? null;
    this.#found ??= { seed: own };
    if (own !== this.#found.seed) return false;
    if (own === null) return true;
    if (this.#stated !== undefined && own !== this.#stated) return false;
    return canonicalJson(address) === canonicalJson(episodeAddress(own, id, sample));
  }
}
