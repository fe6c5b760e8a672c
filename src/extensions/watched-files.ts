/**
 * Watches files at the one place that all of `node:fs` and both module loaders pass: Node's binding to
 * the operating system. Functions that take an open file are left alone, since it was opened here.
 */

import { createHash } from "node:crypto";
import fs, {
  type BigIntStats,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { fingerprint } from "../core/fingerprint.ts";
import { callerOf } from "./caller.ts";
import { currentScope, mayDo, refuse, type Scope, shownPath, unwatched } from "./watch.ts";

const READS = new Set(["open", "openFileHandle", "readFileUtf8"]);
const LOOKS = new Set(["access", "existsSync", "stat", "statfs", "readdir"]);
/** Names of folders on the way to a file: seen in every `realpath`, and no content. */
const NAMES = new Set(["lstat", "readlink", "realpath"]);
/** Lookups of Node's own loaders. */
const LOADER = new Set([
  ...["internalModuleStat", "internalModuleReadJSON", "legacyMainResolve"],
  "getFormatOfExtensionlessFile",
]);
const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND } = constants;
const WRITES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

const require = createRequire(import.meta.url);
const LOADER_FILE = path.join(path.dirname(require.resolve("jiti")), "../dist/jiti.cjs");

type Call = (...args: unknown[]) => unknown;

/** Puts the watch between Node and the operating system; once in each thread. */
export function watchFiles(binding: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(binding)) {
    if (typeof value !== "function" || /^[A-Z]/.test(name) || LOADER.has(name)) continue;
    const original = value as Call;
    binding[name] = function (this: unknown, ...args: unknown[]): unknown {
      const scope = currentScope();
      const error = scope && refusal(scope, name, args);
      if (error === undefined) return Reflect.apply(original, this, args);
      const request = args.find(isRequest);
      if (request === undefined) throw error;
      process.nextTick(() => request.oncomplete(error));
    };
  }
  // These two have bindings of their own, which are out of reach.
  watchPublic(fs, "openAsBlob", "open");
  for (const name of ["opendir", "opendirSync"]) watchPublic(fs, name, "readdir");
  watchPublic(fs.promises, "opendir", "readdir");
  syncBuiltinESMExports();
}

function watchPublic(owner: object, name: string, as: string): void {
  const functions = owner as Record<string, Call | undefined>;
  const original = functions[name];
  if (original === undefined) return;
  functions[name] = function (this: unknown, ...args: unknown[]) {
    const scope = currentScope();
    const error = scope && refusal(scope, as, [pathOf(args[0]), 0]);
    if (error) throw error;
    return Reflect.apply(original, this, args);
  };
}

/** The callback of an asynchronous call. */
function isRequest(value: unknown): value is { oncomplete(error: Error): void } {
  return typeof (value as { oncomplete?: unknown } | null | undefined)?.oncomplete === "function";
}

/** Why this call must not be made; undefined if it may. */
function refusal(scope: Scope, name: string, args: readonly unknown[]): Error | undefined {
  if ((name === "read" || name === "readBuffers") && args[0] === 0 && scope.strict)
    return refuse(scope, "the scorer read standard input");
  const given = pathOf(args[0]);
  if (given === undefined) return undefined;
  return unwatched(() => {
    const file = path.resolve(given);
    const reads = READS.has(name) && (Number(args[1] ?? 0) & WRITES) === 0;
    if (reads) return readRefusal(scope, file);
    if (LOOKS.has(name) || NAMES.has(name)) return lookRefusal(scope, name, file);
    return mayDo(scope, "write", `wrote ${shownPath(scope.sight, file)}`)
      ? undefined
      : refuse(scope, scope.refused ?? "");
  });
}

function pathOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value instanceof URL) return decodeURIComponent(value.pathname);
  return value instanceof Uint8Array ? Buffer.from(value).toString() : undefined;
}

function readRefusal(scope: Scope, file: string): Error | undefined {
  const caller = callerOf(LOADER_FILE);
  if (caller === "loader" && path.basename(file) === "package.json") return undefined;
  if (caller === "native" && scope.phase === "load")
    return isPackaged(file) ? undefined : new Error(NATIVE);
  return seeFile(scope, file);
}

/**
 * Node keeps an ES module for ever, so that a second instance would be the first. With this error the
 * loader of user code compiles the file itself. Packages count by name and version, and may be kept.
 */
const NATIVE = "a file of user code is loaded by its own loader; use import or require";
const OWN_PACKAGE = fileURLToPath(new URL("../../dist/", import.meta.url));

function isPackaged(file: string): boolean {
  return file.includes(`${path.sep}node_modules${path.sep}`) || file.startsWith(OWN_PACKAGE);
}

function lookRefusal(scope: Scope, name: string, file: string): Error | undefined {
  if (callerOf(LOADER_FILE) !== "user") return undefined;
  if (NAMES.has(name)) return scope.phase === "load" ? undefined : seeFile(scope, file);
  if (name === "readdir") return seeFolder(scope, file);
  return seeFile(scope, file);
}

const later = (scope: Scope, file: string, did: string) =>
  refuse(
    scope,
    `the scorer ${did} ${shownPath(scope.sight, file)} while it scored; read it when the scorer loads`,
  );

/** Records what a file contains while the module loads; afterwards it must be the same. */
function seeFile(scope: Scope, file: string): Error | undefined {
  const { sight, strict } = scope;
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found?.isDirectory()) return undefined;
  const real = found ? realpathSync(file) : file;
  const before = sight.files.get(real);
  if (scope.phase === "score" && before === undefined && !sight.absent.has(real))
    return strict ? later(scope, real, "read") : undefined;
  if (!found) {
    if (before === undefined) sight.absent.add(real);
    return before === undefined ? undefined : changed(scope, real);
  }
  if (!found.isFile())
    return strict
      ? refuse(scope, `the scorer read ${shownPath(sight, real)}, which is not a regular file`)
      : undefined;
  const now = hashOf(real, found);
  if (sight.absent.has(real) || (before !== undefined && before !== now))
    return changed(scope, real);
  sight.files.set(real, now);
  return undefined;
}

function seeFolder(scope: Scope, folder: string): Error | undefined {
  const { sight, strict } = scope;
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return seeFile(scope, folder);
  const real = realpathSync(folder);
  const before = sight.folders.get(real);
  const now = fingerprint(readdirSync(real).sort());
  if (scope.phase === "score" && before === undefined)
    return strict ? later(scope, real, "listed") : undefined;
  if (before !== undefined && before !== now) return changed(scope, real);
  sight.folders.set(real, now);
  return undefined;
}

function changed(scope: Scope, file: string): Error | undefined {
  if (!scope.strict) return undefined;
  const name = shownPath(scope.sight, file);
  return refuse(scope, `${name} changed after the scorer had read it; evaluate again`);
}

/** A compiled addon is opened by the system's own loader. */
export function addonRefusal(scope: Scope, file: string): Error | undefined {
  return unwatched(() => seeFile(scope, path.resolve(file)));
}

/** Hashes that were taken, by what changes with every write to the file. */
const taken = new Map<string, string>();

function hashOf(file: string, { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  const state = [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  const known = taken.get(state);
  if (known !== undefined && size > 0n) return known;
  const hash = createHash("sha256");
  const part = Buffer.alloc(1 << 16);
  const open = openSync(file, "r");
  try {
    for (let n = readSync(open, part); n > 0; n = readSync(open, part))
      hash.update(part.subarray(0, n));
  } finally {
    closeSync(open);
  }
  const digest = hash.digest("hex");
  taken.set(state, digest);
  return digest;
}
