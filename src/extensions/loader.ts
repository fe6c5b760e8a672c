/**
 * The loader of user code: one place for its options, its watch and its time limits. Every instance is
 * a fresh one.
 */

import { createRequire } from "node:module";
import path from "node:path";
import type { Jiti, TransformOptions } from "jiti";
import { dataError } from "../core/errors.ts";
import { keepBuiltIns } from "./builtins.ts";
import { LoadTimeout, withinLoadLimit } from "./load-limit.ts";
import { asHarness, inScope, type Scope } from "./watch.ts";
import { watchUserCode } from "./watched-acts.ts";
import { withinLimit } from "./within-limit.ts";

export type Exports = Record<string, unknown>;
export type Compile = (options: TransformOptions) => string;

export interface Load {
  readonly file: string;
  /** Names its part in messages: "scorer", "policy". */
  readonly what: string;
  readonly scope: Scope;
  readonly limitMs: number;
  /** Gives the JavaScript of each file; without it, its own text compiled. */
  readonly transform?: (options: TransformOptions, compile: Compile) => string;
}

/** Loads a file in any form, `await` outside of functions included. */
export function importInstance(load: Load): Promise<Exports> {
  const { file, scope, limitMs } = load;
  return fresh(load, (jiti, late) =>
    withinLoadLimit(late, limitMs, () => {
      let loading: Promise<Exports> | undefined;
      const inTime = inScope(scope, () =>
        withinLimit(() => {
          loading = jiti.import<Exports>(path.resolve(file));
        }, limitMs),
      );
      if (!inTime || loading === undefined) throw late;
      return loading;
    }),
  );
}

/** Loads a file without `await` in one call, so that V8 can end a loop anywhere in it. */
export function requireInstance(load: Load): Promise<Exports> {
  const { file, scope, limitMs } = load;
  return fresh(load, async (jiti, late) => {
    let exports: Exports | undefined;
    const inTime = inScope(scope, () =>
      withinLimit(() => {
        exports = jiti(path.resolve(file)) as Exports;
      }, limitMs),
    );
    if (!inTime || exports === undefined) throw late;
    return exports;
  });
}

/** The compiler of user code, without its cache in the temporary folder: see `fresh`. */
export async function newCompiler(): Promise<Compile> {
  const { createJiti } = await import("jiti");
  const jiti = createJiti(import.meta.url, { fsCache: false });
  jiti.transform({ source: "" }); // Now, so that the compiler does not count as the user's code.
  return (options) => jiti.transform(options);
}

async function fresh(
  { file, what, scope, limitMs, transform }: Load,
  load: (jiti: Jiti, late: LoadTimeout) => Promise<Exports>,
): Promise<Exports> {
  const { createJiti } = await import("jiti");
  const compile = await newCompiler();
  watchUserCode();
  // Without the cache: whoever writes there would change the code that runs. Every option that could
  // come from the environment is given, because it would not show in the identity.
  const jiti = createJiti(import.meta.url, {
    ...{ fsCache: false, moduleCache: false, interopDefault: false, tryNative: false },
    ...{ alias: {}, nativeModules: [], transformModules: [], tsconfigPaths: false, jsx: false },
    transform: (options) => ({
      code: asHarness(() => (transform ? transform(options, compile) : compile(options))),
    }),
  });
  const native = createRequire(import.meta.url);
  const before = new Set(Object.keys(native.cache));
  const changedBuiltIn = keepBuiltIns();
  try {
    const exports = await load(jiti, new LoadTimeout(what, file, limitMs));
    const changed = changedBuiltIn();
    if (changed !== undefined)
      throw dataError(`it changes ${changed}, which the harness uses as well`);
    return exports;
  } finally {
    scope.phase = "score";
    // The next instance reads its files again. Compiled addons cannot be loaded twice.
    for (const name of Object.keys(native.cache))
      if (!before.has(name) && !name.endsWith(".node")) delete native.cache[name];
  }
}
