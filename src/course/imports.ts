/** What a learner's program takes from elsewhere: an assignment that is written must not be imported. */

import { readFile } from "node:fs/promises";
import { ensure } from "./check-context.ts";
import type { LearnerFile } from "./learner-code.ts";

/** By module, the values that may be imported; types always may. */
export type Allowed = Readonly<Record<string, readonly string[]>>;

const STATIC = /\b(?:import|export)\b\s*(type\b)?([\w\s,{}*$]*?)\bfrom\s*["']([^"']+)["']/g;
const BARE = /\bimport\s*["']([^"']+)["']/g;
/** Other ways to load a module or to run a text as code. */
const LOADERS = /\bimport\s*\(|\brequire\b|\bgetBuiltinModule\b|\beval\b|\bFunction\s*\(/g;

/** The imports of a source text that are not allowed, as they are to be shown. */
export function foreignImports(source: string, allowed: Allowed): string[] {
  // Read twice, since a string may hold what looks like the start of a comment.
  const lines = source.split("\n").filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
  const plain = `${source.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/(^|\s)\/\/.*$/gm, "$1")}
${lines.join("\n")}`;
  const found = [...plain.matchAll(STATIC)].flatMap(([, type, clause = "", from = ""]) =>
    type && !/^\s*,/.test(clause)
      ? []
      : valuesOf(clause)
          .filter((name) => !(allowed[from] ?? []).includes(name))
          .map((name) => `${name} from "${from}"`),
  );
  const bare = [...plain.matchAll(BARE)].map(([, from]) => `"${from}"`);
  const loaders = [...plain.matchAll(LOADERS)].map(([text]) => text.replace(/\s*\($/, "()"));
  return [...new Set([...found, ...bare, ...loaders])];
}

/** The names of an import clause that are values, as their module calls them. */
function valuesOf(clause: string): string[] {
  const [, before = "", braced] = /^([^{]*)(?:\{([^}]*)\})?/.exec(clause) ?? [];
  const names = (braced ?? "").split(",").map((name) => name.trim());
  const whole = before.replace(/,\s*$/, "").trim();
  return [
    ...(whole === "" ? [] : [whole]),
    ...names
      .filter((name) => name !== "" && !/^type\s/.test(name))
      .map((name) => name.replace(/\s+as\s+.*$/s, "")),
  ];
}

export async function checkImports(file: LearnerFile, allowed: Allowed): Promise<void> {
  const foreign = foreignImports(await readFile(file.path, "utf8"), allowed);
  const names = Object.values(allowed).flat();
  ensure(foreign.length === 0, {
    expected: `${file.name} to import only ${names.join(", ")} and types: the rest is the assignment`,
    found: foreign.join(", "),
    where: file.name,
    next: `Write these parts in ${file.name} yourself, without the import.`,
  });
}
