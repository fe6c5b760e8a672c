/** Argument checks. A bad argument is a bug in the caller, so it throws a RangeError with a stack. */

export function requireCount(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${name} must be a whole number from 0 up, found ${value}`);
  }
}

export function requireAtMost(name: string, value: number, limit: number): void {
  requireCount(name, value);
  if (value > limit) throw new RangeError(`${name} must be at most ${limit}, found ${value}`);
}

/** A probability; the ends are allowed. */
export function requireShare(name: string, value: number): void {
  if (!(value >= 0 && value <= 1)) {
    throw new RangeError(`${name} must lie between 0 and 1, found ${value}`);
  }
}

/** A level such as alpha, a confidence or a power: strictly between 0 and 1. */
export function requireLevel(name: string, value: number): void {
  if (!(value > 0 && value < 1)) {
    throw new RangeError(`${name} must lie strictly between 0 and 1, found ${value}`);
  }
}
