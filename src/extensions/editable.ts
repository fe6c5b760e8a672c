/**
 * A user's module as text that can be edited: its syntax tree, and fresh instances of it with one
 * file replaced. The parser is the one of jiti, which loads users' TypeScript anyway.
 */

import { readFileSync } from "node:fs";
import path from "node:path";
import type { TransformOptions } from "jiti";
import { dataError, messageOf } from "../core/errors.ts";
import { LOAD_LIMIT_MS } from "./load-limit.ts";
import {
  type Compile,
  type Exports,
  importInstance,
  newCompiler,
  requireInstance,
} from "./loader.ts";
import { folderOf } from "./module.ts";
import { loadingScope, newSight, type Sight } from "./watch.ts";

/** A node of Babel's tree; offsets are UTF-16 units of the source. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface SyntaxTree {
  readonly program: SyntaxNode;
  readonly comments: readonly { readonly value: string; readonly start: number }[];
}

export interface EditableFile {
  /** Relative to the folder of the module. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly tree: SyntaxTree;
}

/** What became of an edited module. */
export type Edited =
  | { readonly exports: Exports; readonly sight: Sight }
  /** It did what no mutant may: see `mayDo`. */
  | "refused"
  | "does_not_load";

export interface EditableModule {
  /** The module's own file first, then the local files that it imports. */
  readonly files: readonly EditableFile[];
  /** A fresh instance with this text in place of the file's. */
  load(file: EditableFile, text: string): Promise<Edited>;
}

/** An edit can make loading endless, and there are hundreds of edits. */
const EDITED_LIMIT_MS = 2000;

export async function openEditable(
  entry: string,
  editedLimitMs = EDITED_LIMIT_MS,
): Promise<EditableModule> {
  const full = path.resolve(entry);
  const compiled = new Map<string, string>();
  const instance = async (
    load: typeof importInstance,
    limitMs: number,
    edit?: [string, string],
  ) => {
    const scope = loadingScope(newSight(folderOf(full)), true, edit !== undefined);
    const transform = (options: TransformOptions, compile: Compile) => {
      const file = options.filename ?? "";
      if (file === edit?.[0]) return compile({ ...options, source: edit[1] });
      const key = `${options.async} ${file}`;
      const code = compiled.get(key) ?? compile(options);
      compiled.set(key, code);
      return code;
    };
    const given = { file: full, what: "scorer", scope, limitMs, transform };
    const exports = await load(given).catch((error: unknown) =>
      error instanceof Error ? error : new Error(messageOf(error)),
    );
    return { scope, exports };
  };
  const { exports } = await instance(importInstance, LOAD_LIMIT_MS);
  if (exports instanceof Error)
    throw dataError(`${entry} does not load: ${messageOf(exports)}`, SEE_ERROR);
  const files = await filesOf(full, compiled.keys());
  // V8 can end every loop of a file that is loaded in one call; one with `await` outside of its
  // functions cannot be. Tried late: the other form of its code would confuse a look at coverage.
  let way: Promise<typeof importInstance> | undefined;
  const wayToLoad = async () =>
    (await instance(requireInstance, LOAD_LIMIT_MS)).exports instanceof Error
      ? importInstance
      : requireInstance;
  return {
    files,
    async load(file, text) {
      way ??= wayToLoad();
      const { scope, exports } = await instance(await way, editedLimitMs, [file.path, text]);
      if (scope.refused !== undefined) return "refused";
      return exports instanceof Error ? "does_not_load" : { exports, sight: scope.sight };
    },
  };
}

const SEE_ERROR = "Run the file with node to see the full error.";

/** The module's file and the local ones among those that were compiled. */
async function filesOf(full: string, keys: Iterable<string>): Promise<EditableFile[]> {
  const compile = await newCompiler();
  const seen = new Set([...keys].map((key) => key.slice(key.indexOf(" ") + 1)));
  const local = [...seen].filter((file) => file !== full && !file.includes("node_modules"));
  return [full, ...local]
    .filter((file) => /\.[cm]?[jt]s$/.test(file))
    .map((file) => {
      const text = readFileSync(file, "utf8");
      const name = path.relative(path.dirname(full), file).split(path.sep).join("/");
      return { name, path: file, text, tree: parse(compile, file, text) };
    });
}

function parse(compile: Compile, file: string, text: string): SyntaxTree {
  let tree: SyntaxTree | undefined;
  const keep = () => ({
    pre(parsed: { ast: SyntaxTree }) {
      tree = JSON.parse(JSON.stringify(parsed.ast)) as SyntaxTree;
    },
    visitor: {},
  });
  compile({
    ...{ source: text, filename: file, ts: /\.[cm]?tsx?$/.test(file) },
    babel: { plugins: [keep] },
  });
  if (!tree) throw dataError(`${file} cannot be parsed`, SEE_ERROR);
  return tree;
}
