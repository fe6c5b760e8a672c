/**
 * Errors that a user can fix carry a sentence and a next step; everything else is a bug of ours and
 * keeps its stack. The command line maps `kind` to an exit code.
 */

export type ErrorKind =
  /** The call itself is wrong: flags, arguments, an output folder that must not be touched. */
  | "usage"
  /** What was read is wrong: a missing, malformed, damaged or unfinished file. */
  | "data"
  /** The machine failed: a full disk, a lost permission. */
  | "io";

/**
 * An error that a user can fix: a sentence, a next step, and the kind of mistake.
 * @example
 * ```ts
 * import { LockedRoomError, openRun } from "lockedroom";
 * try {
 *   await openRun("runs/none");
 * } catch (error) {
 *   if (error instanceof LockedRoomError) console.log(error.kind, error.message, error.hint);
 * }
 * ```
 */
export class LockedRoomError extends Error {
  override readonly name = "LockedRoomError";
  readonly kind: ErrorKind;
  /** What to do next, as a sentence. */
  readonly hint: string | undefined;

  constructor(kind: ErrorKind, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.hint = options.hint;
  }
}

export const usageError = (message: string, hint?: string): LockedRoomError =>
  new LockedRoomError("usage", message, hint === undefined ? {} : { hint });

export const dataError = (message: string, hint?: string): LockedRoomError =>
  new LockedRoomError("data", message, hint === undefined ? {} : { hint });

/** Not a wrong path: the machine has no space or a fault. */
const MACHINE = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EMFILE", "ENFILE"]);

/**
 * Turns a failed system call into a sentence; `doing` reads "write runs/a". `path` is what a wrong
 * path would be; trouble of the machine itself is always "io". What is a sentence already stays.
 */
export function ioError(doing: string, cause: unknown, path: ErrorKind = "io"): LockedRoomError {
  if (cause instanceof LockedRoomError) return cause;
  const code = (cause as NodeJS.ErrnoException).code ?? "unknown error";
  const kind = MACHINE.has(code) ? "io" : path;
  const [what, hint] = SYSTEM_ERRORS[code] ?? [code, "Check the path and try again."];
  return new LockedRoomError(kind, `cannot ${doing}: ${what}`, { hint, cause });
}

const AGAIN = " and run the same command again.";

/** The error of work that is to be continued, as `how` says, and not run again. */
export function continuable(error: LockedRoomError, how: string): LockedRoomError {
  const { kind, message, cause } = error;
  const hint = error.hint?.replace(AGAIN, ".");
  return new LockedRoomError(kind, message, { hint: hint ? `${hint} ${how}` : how, cause });
}

const SYSTEM_ERRORS: Record<string, [what: string, hint: string]> = {
  ENOENT: ["no such file or folder", "Check the path; it is relative to the current folder."],
  EEXIST: ["there is a file of that name, not a folder", "Choose another path."],
  EISDIR: ["it is a folder, not a file", "Name a file inside it."],
  ERR_FS_EISDIR: ["it is a folder, not a file", "Remove it, or choose another path."],
  ENOTDIR: ["a part of the path is a file, not a folder", "Check the path."],
  EACCES: ["permission denied", "Choose a path you may use, or change its permissions."],
  EPERM: ["permission denied", "Choose a path you may use, or change its permissions."],
  EROFS: ["the file system is read-only", "Choose a folder on another file system."],
  ENOSPC: ["the disk is full", `Free some space${AGAIN}`],
  EDQUOT: ["the disk quota is used up", `Free some space${AGAIN}`],
  EFBIG: ["the file would be larger than is allowed here", "Raise the limit or write elsewhere."],
  ELOOP: ["too many symbolic links", "Check where the links point."],
  ENAMETOOLONG: ["the name is too long", "Choose a shorter path."],
};

/** A person's sentence for anything thrown, including things that are not errors. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  } catch {
    return "something that cannot be shown was thrown";
  }
}
