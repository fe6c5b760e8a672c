/** Trouble with a server: what happened, as the end of a sentence that begins with the server. */

export class RemoteFailure extends Error {
  override readonly name = "RemoteFailure";
  /** OpenEnv's code, where the server gave one. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** The largest answer that is read: a larger one is refused before it fills the memory. */
export const LARGEST_ANSWER = 16 * 1024 * 1024;
export const LARGEST_IN_WORDS = "16 MiB";
