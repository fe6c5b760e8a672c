/** What a check finds lacking: always what was expected, what was found, and where to look. */

export interface Lack {
  readonly expected: string;
  readonly found: string;
  /** A file, a command or a commit. */
  readonly look: string;
  /** The one thing to do; the check's own next step where this is not given. */
  readonly next?: string | undefined;
  /** What is missing is a commit of the level's current step. */
  readonly commit?: true;
}

export class Gap extends Error {
  readonly lack: Lack;

  constructor(lack: Lack) {
    super(`expected ${lack.expected}; found ${lack.found}`);
    this.name = "Gap";
    this.lack = lack;
  }
}

/** Holds, or throws what is lacking. */
export function demand(holds: boolean, lack: Lack | (() => Lack)): asserts holds {
  if (!holds) throw new Gap(typeof lack === "function" ? lack() : lack);
}
