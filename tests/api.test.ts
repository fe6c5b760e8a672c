import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const root = new URL("../", import.meta.url);
/** Folders without a subpath. */
const INTERNAL = ["audit", "cli", "http"];
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

describe("the public surface", () => {
  test("is what it was; a change here is a change for users", async () => {
    const library = await import("lockedroom");
    expect(Object.keys(library).sort()).toMatchSnapshot();
  });

  test("every export names files that the build makes", () => {
    const targets = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry as Record<string, string>),
    );
    for (const target of targets.filter((name) => !name.includes("*"))) {
      expect(existsSync(new URL(target, root)), target).toBe(true);
    }
  });

  test("every folder of src is a subpath, but for internal ones", () => {
    const folders = readdirSync(new URL("src/", root), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !INTERNAL.includes(entry.name))
      .map(({ name }) => `./${name}`);
    expect(Object.keys(manifest.exports)).toEqual(expect.arrayContaining(folders));
  });
});

test("the committed API reference is that of the types (npm run docs:api)", async () => {
  const script = fileURLToPath(new URL("scripts/make-api.mjs", root));
  const { stdout } = await promisify(execFile)(process.execPath, [script, "--print"]);
  expect(readFileSync(new URL("docs/api/README.md", root), "utf8")).toBe(stdout);
});

test("committed JSON Schemas are those of the code (npm run schemas)", async () => {
  const { jsonSchemas } = await import("../src/runs/json-schemas.ts");
  const expected = Object.entries(jsonSchemas());
  expect(readdirSync(new URL("schemas/", root)).sort()).toEqual(
    expected.map(([name]) => `${name}.json`).sort(),
  );
  for (const [name, schema] of expected) {
    expect(JSON.parse(readFileSync(new URL(`schemas/${name}.json`, root), "utf8")), name).toEqual(
      schema,
    );
  }
});
