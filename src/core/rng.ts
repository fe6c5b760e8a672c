/**
 * Randomness addressed by coordinates: `rngAt(seed, step, exampleId, sample)` is the same stream
 * whatever was drawn before it, so order, batch size and concurrency cannot change a result.
 */

export type Coordinate = string | number;

/** A stream of random numbers. @see {@link rngAt} */
export interface Rng {
  /** Uniform in [0, 1) with 53 bits. */
  next(): number;
  /** A uniform integer in [0, bound). */
  below(bound: number): number;
}

/**
 * The stream of random numbers at an address.
 * @example
 * ```ts
 * import { rngAt } from "lockedroom";
 * console.log(rngAt(0, "example-1", 3).next() === rngAt(0, "example-1", 3).next()); // true
 * ```
 */
export function rngAt(...coordinates: Coordinate[]): Rng {
  return sfc32(seedWords(coordinates));
}

/** Fisher–Yates on a copy. */
export function shuffled<T>(items: readonly T[], rng: Rng): T[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = rng.below(i + 1);
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}

/** Four 32-bit words from the coordinates; the type tag keeps 1 and "1" apart. */
function seedWords(coordinates: Coordinate[]): [number, number, number, number] {
  const text = coordinates
    .map((c) => (typeof c === "number" ? `n${Object.is(c, -0) ? 0 : c}` : `s${c.length}:${c}`))
    .join("|");
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  let d = 0xdeadbeef;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x85ebca6b);
    b = Math.imul(b ^ (a >>> 15) ^ unit, 0xc2b2ae35);
    c = Math.imul(c ^ (b >>> 13) ^ unit, 0x27d4eb2f);
    d = Math.imul(d ^ (c >>> 16) ^ unit, 0x165667b1);
    a ^= d >>> 11;
  }
  return [a >>> 0, b >>> 0, c >>> 0, d >>> 0];
}

/** Chris Doty-Humphrey's small fast counter generator (PractRand), warmed up past its seed. */
function sfc32([a, b, c, d]: [number, number, number, number]): Rng {
  const word = (): number => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 15; i++) word();
  const next = (): number => ((word() >>> 5) * 0x4000000 + (word() >>> 6)) / 2 ** 53;
  return { next, below: (bound) => Math.floor(next() * bound) };
}
