/**
 * The fingerprint of a scorer's code: the file and every local module that it imports, so that a
 * changed line shows even if name and version stay the same.
 */

import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { dataError, ioError } from "../core/errors.ts";
import { fingerprint, sha256 } from "../core/fingerprint.ts";
import type { Sight } from "./watch.ts";

/** A specifier in any import form; a match inside a comment only adds a file to the fingerprint. */
const SPECIFIER = /(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["'`]([^"'`\n]+)["'`]/g;
const CODE = /\.[cm]?[jt]sx?$/;
const EXTENSIONS = [
  "",
  ".ts",
  ".mts",
  ".cts",
  ".js",
  ".mjs",
  ".cjs",
  ".json",
  "/index.ts",
  "/index.js",
];

/**
 * For a single file it is the SHA-256 of its bytes, as printed by `sha256sum`. `sight` is what was read
 * while it loaded, in case the source text does not name it.
 */
export function sourceFingerprint(entry: string, sight?: Sight): string {
  const files = new Map<string, string>();
  const packages = new Map<string, string>();
  for (const [file, hash] of sight?.files ?? []) if (!CODE.test(file)) files.set(file, hash);
  for (const file of [entry, ...(sight?.files.keys() ?? [])]) {
    if (existsSync(file)) collect(realpathSync(file), files, packages);
  }
  for (const [file, hash] of sight?.files ?? [])
    if (files.get(file) !== hash)
      throw dataError(`${file} changed while it was read`, "Run the command again.");
  const root = path.dirname(realpathSync(entry));
  const byName = (found: Iterable<[string, string]>) =>
    Object.fromEntries([...found].map(([file, hash]) => [relative(root, file), hash]));
  const folders = byName(sight?.folders ?? []);
  const absent = [...(sight?.absent ?? [])].map((file) => relative(root, file)).sort();
  const seen = {
    ...(Object.keys(folders).length > 0 && { folders }),
    ...(absent.length > 0 && { absent }),
  };
  const only = files.size === 1 && packages.size === 0 ? [...files.values()][0] : undefined;
  if (only !== undefined && Object.keys(seen).length === 0) return only;
  return fingerprint({ files: byName(files), packages: Object.fromEntries(packages), ...seen });
}

function collect(file: string, files: Map<string, string>, packages: Map<string, string>): void {
  if (files.has(file)) return;
  const bytes = readSource(file);
  files.set(file, sha256(bytes));
  if (!CODE.test(file)) return;
  for (const [, specifier = ""] of Buffer.from(bytes).toString("utf8").matchAll(SPECIFIER)) {
    if (specifier.startsWith("node:")) continue;
    if (/^\.{0,2}\//.test(specifier)) {
      const target = resolveLocal(path.resolve(path.dirname(file), specifier));
      if (target) collect(target, files, packages);
    } else {
      const version = packageVersion(specifier, file);
      if (version) packages.set(specifier, version);
    }
  }
}

/** The bytes of a file that the user named; no type of Node, which users may not have. */
export function readSource(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw ioError(`read ${file}`, error, "data");
  }
}

/** TypeScript imports `x.ts` as `./x.js`, so a missing `.js` resolves to its source. */
function resolveLocal(base: string): string | undefined {
  const bases = [base, base.replace(/\.([cm]?)js$/, ".$1ts")];
  for (const candidate of bases.flatMap((b) => EXTENSIONS.map((extension) => b + extension))) {
    if (existsSync(candidate) && statSync(candidate).isFile()) return realpathSync(candidate);
  }
  return undefined;
}

function packageVersion(specifier: string, from: string): string | undefined {
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    const manifest = path.join(folder, name, "package.json");
    if (existsSync(manifest)) return String(JSON.parse(readFileSync(manifest, "utf8")).version);
  }
  return undefined;
}

function relative(root: string, file: string): string {
  return path.relative(root, file).split(path.sep).join("/");
}
