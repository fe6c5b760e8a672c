/**
 * A user's module as text that can be edited: its syntax tree, and fresh instances of it with one
 * file replaced. The parser is the one of jiti, which loads users' TypeScript anyway.
 */

import { readFileSync } from "node:fs";
import path from "node:path";
import { dataError, messageOf } from "../core/errors.ts";
import { withinLimit } from "./module.ts";

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

export interface EditableModule {
  /** The module's own file first, then the local files that it imports. */
  readonly files: readonly EditableFile[];
  /** A fresh instance with this text in place of the file's. Undefined if it does not load in time. */
  load(file: EditableFile, text: string): Record<string, unknown> | undefined;
}

const LOAD_LIMIT_MS = 2000;

export async function openEditable(entry: string): Promise<EditableModule> {
  const { createJiti } = await import("jiti");
  const compiler = createJiti(import.meta.url, { fsCache: false });
  const full = path.resolve(entry);
  const read: string[] = [];
  const compiled = new Map<string, string>();
  const instance = (replaced: ReadonlyMap<string, string>) =>
    createJiti(import.meta.url, {
      fsCache: false,
      moduleCache: false,
      interopDefault: false,
      tryNative: false,
      transform: (options) => {
        const file = options.filename ?? "";
        if (!read.includes(file)) read.push(file);
        const source = replaced.get(file);
        if (source !== undefined) return { code: compiler.transform({ ...options, source }) };
        const key = `${options.async} ${file}`;
        const code = compiled.get(key) ?? compiler.transform(options);
        compiled.set(key, code);
        return { code };
      },
    });
  const parse = (file: string, text: string): SyntaxTree => {
    let tree: SyntaxTree | undefined;
    const keep = () => ({
      pre(parsed: { ast: SyntaxTree }) {
        tree = JSON.parse(JSON.stringify(parsed.ast)) as SyntaxTree;
      },
      visitor: {},
    });
    compiler.transform({
      ...{ source: text, filename: file, ts: /\.[cm]?tsx?$/.test(file) },
      babel: { plugins: [keep] },
    });
    if (!tree)
      throw dataError(`${file} cannot be parsed`, "Run the file with node to see the error.");
    return tree;
  };
  compiler.transform({ source: "" }); // Now, so that no time limit covers the compiler's start.
  try {
    await instance(new Map()).import(full);
  } catch (error) {
    throw dataError(`${entry} does not load: ${messageOf(error)}`);
  }
  const local = [full, ...read.filter((file) => file !== full && !file.includes("node_modules"))];
  const files = local
    .filter((file) => /\.[cm]?[jt]s$/.test(file))
    .map((file) => {
      const text = readFileSync(file, "utf8");
      const name = path.relative(path.dirname(full), file).split(path.sep).join("/");
      return { name, path: file, text, tree: parse(file, text) };
    });
  return {
    files,
    load(file, text) {
      let loaded: Record<string, unknown> | undefined;
      try {
        const jiti = instance(new Map([[file.path, text]]));
        const finished = withinLimit(() => {
          loaded = jiti(full) as Record<string, unknown>;
        }, LOAD_LIMIT_MS);
        return finished ? loaded : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
