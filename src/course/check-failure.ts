/** How a check fails: what it expected, what it found, and where. */

/** Why a check fails: what it expected, what it found, and where. */
export interface Failure {
  readonly expected: string;
  readonly found: string;
  /** A file, a command or a commit. */
  readonly where: string;
  /** What to do; the check's own `next` where this is not given. */
  readonly next?: string | undefined;
  /** The missing thing is a commit of the level's current step. */
  readonly commit?: true;
}

export class CheckFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(`expected ${failure.expected}; found ${failure.found}`);
    this.name = "CheckFailure";
    this.failure = failure;
  }
}

/** Throws a CheckFailure unless the condition is true. */
export function ensure(condition: boolean, failure: Failure | (() => Failure)): asserts condition {
  if (!condition) throw new CheckFailure(typeof failure === "function" ? failure() : failure);
}
