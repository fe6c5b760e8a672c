/**
 * What user code does is attributed to it, over every `await` and callback, and to nobody else: the
 * harness reads files in the same process at the same time. What a scorer reads while it loads is
 * part of its identity; while it scores it may only read that again.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import path from "node:path";

/** What a module has read and seen so far. */
export interface Sight {
  /** Folder of the module's file: names in messages and in the identity are relative to it. */
  readonly root: string;
  /** SHA-256 of each file that was read, by real path. */
  readonly files: Map<string, string>;
  /** SHA-256 of the names in each folder that was listed. */
  readonly folders: Map<string, string>;
  /** Paths that were looked for and not found. */
  readonly absent: Set<string>;
}

/** One piece of user code at work: a module that loads, or a call of a scorer. */
export interface Scope {
  readonly sight: Sight;
  /** "load" until the module is loaded; what it leaves running counts as "score" from then on. */
  phase: "load" | "score";
  /** A scorer. Other modules are watched while they load, but nothing is refused. */
  readonly strict: boolean;
  /** False where the scorer declares `deterministic: false`: it may then use network and programs. */
  readonly deterministic: boolean;
  /** Whether it used the network while it loaded, when its declaration is not known yet. */
  network?: boolean;
  /** A mutant of a scorer: it may do none of these, whatever it declares. */
  readonly confined?: boolean;
  /** The first thing that was refused. It counts even if the code catches the error. */
  refused?: string;
  /** What kind of thing that was; a read, where it is absent. */
  refusedAct?: Act;
}

const scopes = new AsyncLocalStorage<Scope>();
/** True while the watch itself reads files; it does so without an `await`. */
let own = false;

/** The user code that is running, if any. */
export function currentScope(): Scope | undefined {
  return own ? undefined : scopes.getStore();
}

/** Runs user code. A watchdog goes inside: V8's termination skips what would end the scope. */
export function inScope<T>(scope: Scope, call: () => T): T {
  return scopes.run(scope, call);
}

/** For what the watch itself does with files. */
export function unwatched<T>(call: () => T): T {
  const before = own;
  own = true;
  try {
    return call();
  } finally {
    own = before;
  }
}

/** For what the harness does while user code is on the stack, such as ending the process. */
export function asHarness<T>(call: () => T): T {
  return scopes.exit(call);
}

/** V8's termination skips the end of `unwatched`, so a call that it ended is followed by this. */
export function stillWatching(): void {
  own = false;
}

export function newSight(root: string): Sight {
  return { root, files: new Map(), folders: new Map(), absent: new Set() };
}

export function loadingScope(sight: Sight, strict: boolean, confined = false): Scope {
  return { sight, phase: "load", strict, deterministic: true, confined };
}

export function scoringScope(sight: Sight, deterministic: boolean, confined = false): Scope {
  return { sight, phase: "score", strict: true, deterministic, confined };
}

/** Refuses what the code is doing: gives the error to throw. */
export function refuse(scope: Scope, sentence: string, act?: Act): Error {
  if (scope.refused === undefined) {
    scope.refused = sentence;
    if (act !== undefined) scope.refusedAct = act;
  }
  return Object.assign(new Error(sentence), { code: "EACCES" });
}

/** What a scorer without `deterministic: false` does not do. */
export type Act = "network" | "program" | "thread" | "write";

/** Whether the code may do this; if not, the refusal is recorded. `what` reads "wrote a.txt". */
export function mayDo(scope: Scope, act: Act, what: string): boolean {
  if (!scope.strict) return true;
  if (scope.confined) {
    refuse(scope, `the mutant ${what}, which no mutant may`, act);
    return false;
  }
  if (scope.phase === "load" && act === "network") {
    scope.network = true;
    return true;
  }
  if (scope.phase === "score" && !scope.deterministic) return true;
  refuse(
    scope,
    scope.phase === "load"
      ? `the scorer ${what} while it loaded, which no scorer may`
      : `the scorer ${what}, which only one with \`deterministic: false\` may`,
    act,
  );
  return false;
}

/** A path as the identity and the messages have it, so that a moved folder changes neither. */
export function shownPath({ root }: Sight, file: string): string {
  return path.relative(root, file).split(path.sep).join("/") || ".";
}
