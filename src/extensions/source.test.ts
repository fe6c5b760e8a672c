import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { sha256 } from "../core/fingerprint.ts";
import { sourceFingerprint } from "./source.ts";

function tree(files: Record<string, string>): string {
  const root = mkdtempSync(path.join(tmpdir(), "lockedroom-source-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}
const of = (files: Record<string, string>) =>
  sourceFingerprint(path.join(tree(files), "scorer.ts"));

test("a single file is its own SHA-256", () => {
  const text = "export const name = 'x';";
  expect(of({ "scorer.ts": text })).toBe(sha256(text));
});

test("does not depend on where the folder lies", () => {
  const files = { "scorer.ts": 'import "./a.ts";', "a.ts": "1" };
  expect(of(files)).toBe(of(files));
});

test.each([
  ['import { a } from "./lib/a.ts";', "lib/a.ts"],
  ['import a from "./lib/a";', "lib/a.ts"],
  ['import "./lib/a.js";', "lib/a.ts"],
  ['export * from "./lib";', "lib/index.ts"],
  ['const a = require("./a.cjs");', "a.cjs"],
  ['const a = await import("./a.mjs");', "a.mjs"],
  ['import table from "./a.json" with { type: "json" };', "a.json"],
])("%s reaches %s", (line, file) => {
  const before = of({ "scorer.ts": line, [file]: "1" });
  expect(of({ "scorer.ts": line, [file]: "2" })).not.toBe(before);
  expect(of({ "scorer.ts": line, [file]: "1" })).toBe(before);
});

test("follows imports of imports, and cycles end", () => {
  const files = {
    "scorer.ts": 'import "./a.ts";',
    "a.ts": 'import "./b.ts"; import "./scorer.ts";',
    "b.ts": "1",
  };
  expect(of({ ...files, "b.ts": "2" })).not.toBe(of(files));
});

test("a package counts by its version", () => {
  const files = (version: string) => ({
    "scorer.ts": 'import x from "some-package/deep";',
    "node_modules/some-package/package.json": JSON.stringify({ version }),
  });
  expect(of(files("1.0.0"))).not.toBe(of(files("1.0.1")));
});
