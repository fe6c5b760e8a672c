/**
 * Takes from the process of the sandbox what Python could use if it got out of WebAssembly. Python
 * itself reaches some of it without getting out: `os.system` starts a program of the host by
 * `child_process`, and sockets are WebSockets of the package `ws`.
 */

/** Modules of Node that reach beyond the process. */
const MODULES = [
  ...["child_process", "cluster", "dgram", "dns", "dns/promises", "fs", "fs/promises"],
  ...["http", "http2", "https", "inspector", "inspector/promises", "module", "net", "repl", "tls"],
  ...["v8", "vm", "wasi", "worker_threads"],
];
const GLOBALS = ["fetch", "WebSocket", "EventSource", "XMLHttpRequest", "navigator", "Worker"];
const OF_PROCESS = [
  ...["binding", "_linkedBinding", "dlopen", "kill", "_kill", "getBuiltinModule", "mainModule"],
  ...["chdir", "abort", "reallyExit", "exit", "setuid", "setgid", "execve", "report"],
];

function refuse(): never {
  throw Object.assign(new Error("a grader in the sandbox cannot do this"), { code: "EACCES" });
}

/** Before Pyodide loads: what it asks for and may have, without the rest of `process.binding`. */
export function allowLoading(): void {
  const { constants } = process.getBuiltinModule("fs");
  const binding = (name: string) => (name === "constants" ? { fs: constants } : refuse());
  Object.defineProperty(process, "binding", { value: binding, configurable: true });
}

/** After Pyodide has loaded, before any code of a grader runs. */
export function lockProcess(): void {
  const { syncBuiltinESMExports } = process.getBuiltinModule("module");
  // All are loaded before the first is emptied: they use each other while they load.
  const found = MODULES.map((name) => process.getBuiltinModule(name) as object | undefined);
  for (const one of found) if (one !== undefined) emptied(one);
  syncBuiltinESMExports();
  for (const name of GLOBALS) replaced(globalThis, name, undefined);
  for (const name of OF_PROCESS) if (name in process) replaced(process, name, refuse);
}

function emptied(object: object): void {
  for (const name of Object.getOwnPropertyNames(object)) {
    if (typeof Object.getOwnPropertyDescriptor(object, name)?.value === "function")
      replaced(object, name, refuse);
  }
}

function replaced(object: object, name: string, value: unknown): void {
  try {
    Object.defineProperty(object, name, { value, configurable: false, writable: false });
  } catch {
    // What cannot be redefined stays; the permission model of Node is the other wall.
  }
}

/** A clock that shows the same times in every run: it advances by a millisecond at each look. */
const START_MS = Date.UTC(2025, 0, 1);
const STEP_MS = 1;
let looks = 0;
let randomState = 0;

/** The time and the random bytes of a row do not depend on the rows before it. */
export function restartClock(): void {
  looks = 0;
  randomState = 0;
}

export function fixClockAndRandom(): void {
  replaced(Date, "now", () => START_MS + STEP_MS * looks++);
  replaced(performance, "now", () => STEP_MS * looks++);
  const fill = (view: Uint8Array) => {
    for (let i = 0; i < view.length; i++) view[i] = nextByte();
    return view;
  };
  replaced(globalThis.crypto, "getRandomValues", fill);
  replaced(process.getBuiltinModule("crypto"), "randomFillSync", fill);
}

/** The bytes that `os.urandom` gives; mulberry32. */
function nextByte(): number {
  randomState = (randomState + 0x6d2b79f5) | 0;
  let mixed = Math.imul(randomState ^ (randomState >>> 15), 1 | randomState);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return (mixed ^ (mixed >>> 14)) & 255;
}
