/**
 * Watches what reaches out of the process: programs, threads, network. A refused call fails as it does
 * where the operating system denies it, so that callers get their usual error.
 */

import { subscribe } from "node:diagnostics_channel";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";
import { type Act, currentScope, mayDo, refuse, type Scope } from "./watch.ts";
import { addonRefusal, watchFiles } from "./watched-files.ts";

type Binding = Record<string, unknown>;
type Call = (...args: unknown[]) => unknown;
const DENIED = -1; // EPERM, as libuv writes it. After EACCES a program's pipes would still be read.

type Reach = Exclude<Act, "write">;
/** Methods of Node's handles, by binding and class. */
const HANDLES: readonly [binding: string, type: string, methods: string[], act: Reach][] = [
  ["process_wrap", "Process", ["spawn"], "program"],
  ["tcp_wrap", "TCP", ["connect", "connect6", "listen"], "network"],
  ["pipe_wrap", "Pipe", ["connect", "listen"], "network"],
  ["udp_wrap", "UDP", ["send", "send6", "connect", "connect6", "bind", "bind6"], "network"],
];
const DID: Readonly<Record<Reach, string>> = {
  network: "used the network",
  program: "started another program",
  thread: "started a thread",
};

let watching = false;

/** Begins to watch this thread; what runs outside of a scope only passes by. */
export function watchUserCode(): void {
  if (watching) return;
  watching = true;
  watchFiles(bindingOf("fs"));
  for (const [name, type, methods, act] of HANDLES) {
    const { prototype } = bindingOf(name)[type] as { prototype: Binding };
    for (const method of methods) deny(prototype, method, act, () => DENIED);
  }
  const none = { pid: 0, status: null, signal: null, output: null, error: DENIED };
  deny(bindingOf("spawn_sync"), "spawn", "program", () => none);
  watchThreads();
  watchAddons();
  // A request over a connection that is open already connects nothing.
  for (const channel of ["undici:request:create", "http.client.request.start"])
    subscribe(channel, () => {
      const scope = currentScope();
      if (scope) mayDo(scope, "network", DID.network);
    });
}

function bindingOf(name: string): Binding {
  return (process as unknown as { binding(name: string): Binding }).binding(name);
}

function deny(owner: Binding, method: string, act: Reach, denied: () => unknown) {
  const original = owner[method];
  if (typeof original !== "function") return;
  owner[method] = function (this: unknown, ...args: unknown[]) {
    const scope = currentScope();
    if (scope && !mayDo(scope, act, DID[act])) return denied();
    return Reflect.apply(original as Call, this, args);
  };
}

function refusedError(scope: Scope): Error {
  return refuse(scope, scope.refused ?? "");
}

function watchThreads(): void {
  const { Worker } = threads;
  threads.Worker = new Proxy(Worker, {
    construct(target, args, newTarget) {
      const scope = currentScope();
      if (scope && !mayDo(scope, "thread", DID.thread)) throw refusedError(scope);
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
  syncBuiltinESMExports();
}

/** Compiled code is beyond any watch, but its file is part of the identity. */
function watchAddons(): void {
  const original = process.dlopen;
  process.dlopen = function (this: unknown, ...args: Parameters<typeof original>) {
    const scope = currentScope();
    const error = scope && addonRefusal(scope, args[1]);
    if (error) throw error;
    return Reflect.apply(original, this, args);
  };
}
