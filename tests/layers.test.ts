/** The layer rules hold for this repository, and each of them can fail. */

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";

interface Violation {
  file: string;
  line: number;
  rule: string;
  message: string;
  fix: string;
}

interface CheckLayers {
  checkLayers(rootDir: string): Violation[];
  formatViolation(violation: Violation): string;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const script = new URL("../scripts/check-layers.mjs", import.meta.url).href;
const { checkLayers, formatViolation } = (await import(script)) as CheckLayers;

const trees: string[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true });
});

/** Checks a temporary tree that has this repository's rules. */
function check(files: Record<string, string>): Violation[] {
  const tree = mkdtempSync(join(tmpdir(), "lockedroom-layers-"));
  trees.push(tree);
  copyFileSync(join(root, "layers.json"), join(tree, "layers.json"));
  for (const [file, text] of Object.entries({
    "package.json": '{"name":"lockedroom"}',
    ...files,
  })) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  }
  mkdirSync(join(tree, "src"), { recursive: true });
  return checkLayers(tree);
}

const places = (violations: Violation[]): string[] =>
  violations.map(({ file, line, rule }) => `${file}:${line} ${rule}`);

test("this repository keeps its rules", () => {
  expect(checkLayers(root).map(formatViolation)).toEqual([]);
});

test("the rules name every folder of the design", () => {
  const { mayImport } = JSON.parse(readFileSync(join(root, "layers.json"), "utf8"));
  expect(Object.keys(mayImport).sort()).toEqual(
    [
      ...["core", "extensions", "charts", "scorers", "stats", "graph", "runs", "policy"],
      ...["environments", "graders", "serve"],
      ...["providers", "judge", "loops", "learn", "gate", "report", "studio", "course", "cli"],
      "index.ts",
    ].sort(),
  );
});

describe("imports between folders", () => {
  test.each([
    ["import", 'import { a } from "../runs/a.ts";'],
    ["import for its effect", 'import "../runs/a.ts";'],
    ["import of a type", 'import type { A } from "../runs/a.ts";'],
    ["import over several lines", 'import {\n  a,\n  type B,\n} from "../runs/a.ts";', 4],
    ["default import without spaces", 'import a from"../runs/a.ts";'],
    ["namespace import", 'import * as a from "../runs/a.ts";'],
    ["export of a name", 'export { a } from "../runs/a.ts";'],
    ["export of a type", 'export type { A } from "../runs/a.ts";'],
    ["export of everything", 'export * from "../runs/a.ts";'],
    ["dynamic import", 'export const a = () => import("../runs/a.ts");'],
    ["dynamic import of a plain template", "export const a = () => import(`../runs/a.ts`);"],
    ["type of an import", 'export type A = typeof import("../runs/a.ts");'],
    ["require", 'export const a = require("../runs/a.ts");'],
    ["module URL", 'export const a = new URL("../runs/a.js", import.meta.url);'],
    ["the package's own name", 'import { a } from "lockedroom/runs";'],
    ["a folder", 'import { a } from "../runs";'],
    ["an import inside a template", `export const a = \`\${await import("../runs/a.ts")}\`;`],
    [
      "an import after a regular expression",
      'const quote = /["\'`/*]/;\nimport "../runs/a.ts";',
      2,
    ],
    ["an import after a division", 'const half = 1 / 2; import "../runs/a.ts"; const b = 3 / 4;'],
    ["an import after a template", `const text = \`it's \${"\`"} "\`;\nimport "../runs/a.ts";`, 2],
    ["an import after a non-null division", 'a = b! / 2; import "../runs/a.ts"; c = 3 / 4;'],
    ["an import after a divided sum", 'a = (b + c) / 2; import "../runs/a.ts"; d = 3 / 4;'],
    ["an import after a negated pattern", 'a = !/"/.test(b); import "../runs/a.ts";'],
    ["an import after a conditional pattern", 'if (a) /"/.test(b); import "../runs/a.ts";'],
    ["an import after a list of exports", 'export { a }\nimport { b } from "../runs/a.ts";', 2],
    ["an import after a comment", '/* it\'s "quoted\n*/ import "../runs/a.ts";', 2],
  ])("%s is seen", (_, text, line = 1) => {
    const violations = check({
      "src/core/x.ts": text,
      "src/runs/a.ts": "",
      "src/runs/index.ts": "",
    });
    expect(places(violations)).toEqual([`src/core/x.ts:${line} layer`]);
    expect(violations[0]?.message).toContain("core may not import runs");
    expect(violations[0]?.message).toContain("it may import nothing");
    expect(violations[0]?.fix).toMatch(/argument|move/);
  });

  test.each([
    ["line comment", '// import "../runs/a.ts";'],
    ["block comment", '/*\nimport "../runs/a.ts";\n*/'],
    ["string", "export const text = 'import \"../runs/a.ts\";';"],
    ["template", 'export const text = `\nimport "../runs/a.ts";\n`;'],
    ["regular expression", 'export const pattern = /import "..\\/runs\\/a.ts";/;'],
    ["property", 'export const a = { import: "../runs/a.ts" }.import;'],
    ["file outside src", 'export const a = new URL("../../package.json", import.meta.url);'],
    ["folder it may use", 'export { a } from "./a.ts";'],
  ])("%s is not an import", (_, text) => {
    expect(check({ "src/core/x.ts": text, "src/core/a.ts": "", "src/runs/a.ts": "" })).toEqual([]);
  });

  test("a folder may import what its row lists, and no more", () => {
    const text = (folder: string) => `import "../${folder}/index.ts";`;
    const files = { "src/core/index.ts": "", "src/scorers/index.ts": "", "src/stats/index.ts": "" };
    expect(check({ ...files, "src/environments/x.ts": text("scorers") })).toEqual([]);
    expect(places(check({ ...files, "src/environments/x.ts": text("stats") }))).toEqual([
      "src/environments/x.ts:1 layer",
    ]);
  });

  test("cli may import everything; nothing may import cli", () => {
    const files = { "src/index.ts": "", "src/gate/index.ts": "", "src/cli/bin.ts": "" };
    const fromCli = 'import "../index.ts";\nimport "../gate/index.ts";';
    expect(check({ ...files, "src/cli/x.ts": fromCli })).toEqual([]);
    expect(places(check({ ...files, "src/index.ts": 'import "./cli/bin.ts";' }))).toEqual([
      "src/index.ts:1 layer",
    ]);
    expect(places(check({ ...files, "src/gate/x.ts": 'import "../cli/bin.ts";' }))).toEqual([
      "src/gate/x.ts:1 layer",
    ]);
  });

  test("course sees the folders, and nothing in src sees the root but cli", () => {
    const files = { "src/index.ts": 'export * from "./core/index.ts";', "src/core/index.ts": "" };
    expect(check({ ...files, "src/course/x.ts": 'import "../core/index.ts";' })).toEqual([]);
    for (const folder of ["course", "gate"]) {
      for (const specifier of ["../index.ts", "lockedroom"]) {
        expect(
          places(check({ ...files, [`src/${folder}/x.ts`]: `import "${specifier}";` })),
        ).toEqual([`src/${folder}/x.ts:1 layer`]);
      }
    }
  });

  test("tests may import other folders, but not cli from below it", () => {
    const files = { "src/runs/a.ts": "", "src/cli/bin.ts": "" };
    expect(check({ ...files, "src/core/x.test.ts": 'import "../runs/a.ts";' })).toEqual([]);
    expect(check({ ...files, "src/cli/x.test.ts": 'import "./bin.ts";' })).toEqual([]);
    for (const name of ["x.test.ts", "x.contract.ts"]) {
      expect(places(check({ ...files, [`src/core/${name}`]: 'import "../cli/bin.ts";' }))).toEqual([
        `src/core/${name}:1 test-import`,
      ]);
    }
  });
});

describe("places", () => {
  test("a folder without a row fails", () => {
    const violations = check({ "src/utils/x.ts": "" });
    expect(places(violations)).toEqual(["src/utils/x.ts:1 unknown-folder"]);
    expect(violations[0]?.message).toContain("src/utils is not in layers.json");
  });

  test("a file in src itself fails, except the facade and its test", () => {
    expect(check({ "src/index.ts": "", "src/index.test.ts": "" })).toEqual([]);
    expect(places(check({ "src/helpers.ts": "" }))).toEqual(["src/helpers.ts:1 unknown-folder"]);
  });

  test("a misspelt folder in the rules fails", () => {
    const violations = check({
      "layers.json": JSON.stringify({
        mayImport: { core: [], gate: ["coer"] },
        forbid: [{ in: ["!cil"], globals: [], because: "", instead: "" }],
      }),
    });
    expect(violations.map(({ message }) => message)).toEqual([
      '"!cil" is no key of "mayImport"',
      '"coer" is no key of "mayImport"',
    ]);
  });
});

describe("what a folder may not use", () => {
  test.each([
    ["core", 'import { readFileSync } from "node:fs";', "node:fs"],
    ["core", 'import { readFileSync } from "fs";', "node:fs"],
    ["core", "export const now = () => Date.now();", "Date"],
    ["core", "export const now = (): Date => new globalThis.Date();", "Date"],
    ["core", "export const now = performance.now();", "performance"],
    ["core", "export const host = process.platform;", "process"],
    ["core", 'export const page = await fetch("x");', "fetch"],
    ["core", `export const a = \`\${setTimeout(() => {}, 1)}\`;`, "setTimeout"],
    ["core", "export const a = () => {\n  fetch(url);\n};", "fetch"],
    ["core", "export const a = Math.random();", "Math.random"],
    ["stats", "export const a = Math.random();", "Math.random"],
    ["stats", "export const a = Math?.random();", "Math.random"],
    ["stats", 'export const a = Math["random"]();', "Math.random"],
    ["stats", "const { random } = Math;", "Math.random"],
    ["cli", "export const a = Math.random();", "Math.random"],
    ["runs", "export const home = process.env.HOME;", "process.env"],
    ["runs", "const { env } = process;", "process.env"],
    ["runs", "process.exit(1);", "process.exit"],
    ["runs", 'import { exit } from "node:process";', "node:process"],
    ["runs", 'import { exit } from "process";', "node:process"],
  ])("%s: %s", (folder, text, name) => {
    const violations = check({ [`src/${folder}/x.ts`]: text });
    expect(violations.length).toBeGreaterThan(0);
    for (const violation of violations) {
      expect(violation.rule).toBe("forbidden");
      expect(violation.message).toContain(`${name} may not be used here`);
      expect(violation.fix).toMatch(/^Instead, ./);
    }
  });

  test.each([
    ["core", 'import { createHash } from "node:crypto";'],
    ["core", "// Date.now() and Math.random()"],
    ["core", 'export const text = "Date.now() process.env";'],
    ["core", "export const pattern = /process.env/;"],
    ["core", "export const a = (row: { process: string }) => row.process;"],
    ["core", "export const a = row?.process;"],
    ["core", "export const a = { fetch: 1, process() { return 1; } };"],
    ["core", "export interface Source { fetch(url: string): string; Date?: string }"],
    ["core", "export const a = Math.floor(1.5);"],
    ["runs", "export const now = Date.now();"],
    ["runs", 'process.stdout.write("x");'],
    ["cli", "process.exit(Number(process.env.CODE));"],
  ])("%s may: %s", (folder, text) => {
    expect(check({ [`src/${folder}/x.ts`]: text })).toEqual([]);
  });

  test("tests may use the clock and the environment, but not Math.random", () => {
    const effects = 'import "node:fs";\nsetTimeout(() => process.env.HOME, Date.now());';
    expect(check({ "src/core/x.test.ts": effects })).toEqual([]);
    expect(places(check({ "src/core/x.test.ts": "\n\nMath.random();" }))).toEqual([
      "src/core/x.test.ts:3 forbidden",
    ]);
  });
});

describe("circles", () => {
  test("two files that import each other fail, types included", () => {
    const violations = check({
      "src/core/a.ts": '\nimport { b } from "./b.ts";',
      "src/core/b.ts": 'import type { A } from "./a.ts";',
    });
    expect(places(violations)).toEqual(["src/core/a.ts:2 cycle"]);
    expect(violations[0]?.message).toContain("src/core/a.ts → src/core/b.ts → src/core/a.ts");
  });

  test("a longer way round is found once, and named in full", () => {
    const violations = check({
      "src/core/a.ts": 'export * from "./b.ts";',
      "src/core/b.ts": 'export * from "./c.ts";',
      "src/core/c.ts": 'export const a = () => import("./a.ts");',
      "src/core/d.ts": 'export * from "./a.ts";',
    });
    expect(violations.map(({ message }) => message)).toEqual([
      "files import each other in a circle: " +
        "src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts",
    ]);
  });

  test("a file that starts a worker which imports it is no circle", () => {
    const files = {
      "src/loops/pool.ts": 'export const worker = new URL("./worker.js", import.meta.url);',
      "src/loops/worker.ts": 'import type { Job } from "./pool.ts";',
    };
    expect(check(files)).toEqual([]);
  });
});

test("a violation is printed with its place, its rule and what to do", () => {
  const [violation] = check({ "src/core/x.ts": "\nDate.now();" });
  expect(violation && formatViolation(violation)).toBe(
    "src/core/x.ts:2 [forbidden] Date may not be used here: " +
      "core has no files, network, clock or environment\n" +
      "    Instead, take the value as an argument, or move the code to the folder that owns the effect.",
  );
});
