/** The rules of layers.mjs and biome.json hold for this repository, and each of them can fail. */

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const tree = mkdtempSync(join(tmpdir(), "lockedroom-layers-"));
afterAll(() => rmSync(tree, { recursive: true }));

function run(program: string, args: string[], cwd: string): string {
  const file = join(root, "node_modules", program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    cwd,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (stdout === "") throw new Error(`${program} ended with ${status}: ${stderr}`);
  return stdout;
}

interface Cruise {
  summary: { violations: { from: string; rule: { name: string } }[] };
}
interface Lint {
  diagnostics: { message: string; category: string; location: { path: string } }[];
}

/** What each file of a tree breaks: names of layer rules, and messages of the linter. */
function findings(folder: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (file: string, what: string) =>
    found.set(file, (found.get(file) ?? new Set()).add(what));
  const depcruise = "dependency-cruiser/bin/dependency-cruise.mjs";
  const cruise: Cruise = JSON.parse(
    run(depcruise, ["--config", "layers.mjs", "--output-type", "json", "src"], folder),
  );
  for (const { from, rule } of cruise.summary.violations) add(from, rule.name);
  const flags = ["--vcs-enabled=false", "--reporter=json", "--max-diagnostics=none"];
  const lint: Lint = JSON.parse(run("@biomejs/biome/bin/biome", ["lint", ...flags, "src"], folder));
  for (const { location, category, message } of lint.diagnostics) {
    if (category === "plugin" || category.endsWith("noRestrictedGlobals"))
      add(location.path, message);
  }
  return found;
}

let count = 0;
const planted: Record<string, string> = {
  "src/index.ts": "",
  "package.json": '{ "name": "lockedroom", "type": "module" }',
};

/** Adds a file to the tree that is checked once, before the first test. */
function plant(folder: string, text: string, suffix = ".ts"): string {
  const file = `src/${folder}/x${count++}${suffix}`;
  planted[file] = text;
  return file;
}

for (const folder of ["cli", "core", "gate", "learn", "runs", "scorers", "stats"]) {
  planted[`src/${folder}/index.ts`] = "export const a = 1;";
  planted[`src/${folder}/inner.ts`] = "export const a = 1;";
}

let found = new Map<string, Set<string>>();
beforeAll(() => {
  for (const part of ["layers.mjs", "biome.json", "lint"])
    cpSync(join(root, part), join(tree, part), { recursive: true });
  for (const [file, text] of Object.entries(planted)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  }
  found = findings(tree);
});

const broken = (file: string): string => [...(found.get(file) ?? [])].join("\n");

test("this repository keeps its rules", () => {
  expect(findings(root)).toEqual(new Map());
});

test("the table names only folders that have a row, and has rows only for folders of src", async () => {
  const { mayImport } = (await import(new URL("../layers.mjs", import.meta.url).href)) as {
    mayImport: Record<string, string[]>;
  };
  const named = new Set(Object.values(mayImport).flat());
  expect(Object.keys(mayImport)).toEqual(expect.arrayContaining([...named]));
  const isFolder = (name: string) => existsSync(join(root, "src", name));
  expect(Object.keys(mayImport).filter((name) => !isFolder(name))).toEqual([]);
});

describe("an import of a folder that is not allowed", () => {
  const forms: [string, string][] = [
    ["import", 'import { a } from "../runs/inner.ts";'],
    ["import for its effect", 'import "../runs/inner.ts";'],
    ["import of a type", 'import type { A } from "../runs/inner.ts";'],
    ["import over several lines", 'import {\n  a,\n  type B,\n} from "../runs/inner.ts";'],
    ["namespace import", 'import * as a from "../runs/inner.ts";'],
    ["export of a name", 'export { a } from "../runs/inner.ts";'],
    ["export of a type", 'export type { A } from "../runs/inner.ts";'],
    ["export of everything", 'export * from "../runs/inner.ts";'],
    ["dynamic import", 'export const a = () => import("../runs/inner.ts");'],
    ["dynamic import of a template", "export const a = () => import(`../runs/inner.ts`);"],
    ["import inside a template", `export const a = \`\${await import("../runs/inner.ts")}\`;`],
    ["require", 'export const a = require("../runs/inner.ts");'],
    ["import from a deeper folder", 'import "./../runs/inner.ts";'],
  ];
  test.each(forms.map(([form, text]) => [form, plant("core", text)]))("%s is seen", (_, file) => {
    expect(broken(file)).toBe("core-imports");
  });

  const hidden: [string, string][] = [
    ["type of an import", 'export type A = typeof import("../runs/inner.ts");'],
    ["type out of an import", 'export type A = import("../runs/inner.ts").A;'],
    ["module URL", 'export const a = new URL("../runs/inner.js", import.meta.url);'],
  ];
  test.each(hidden.map(([form, text]) => [form, plant("core", text)]))(
    "%s is refused",
    (_, file) => {
      expect(broken(file)).toContain("layer check cannot see this import");
    },
  );

  const own = [plant("gate", 'import "lockedroom";'), plant("gate", 'import "lockedroom/runs";')];
  test.each(own)("the package's own name is refused (%#)", (file) => {
    expect(broken(file)).toBe("own-name");
  });

  const harmless: [string, string][] = [
    ["line comment", '// import "../runs/inner.ts";'],
    ["string", "export const text = 'import \"../runs/inner.ts\";';"],
    ["template", 'export const text = `\nimport "../runs/inner.ts";\n`;'],
    ["file outside src", 'export const a = new URL("../../package.json", import.meta.url);'],
    ["worker beside it", 'export const a = new URL("./inner.js", import.meta.url);'],
    ["folder of its own", 'export { a } from "./inner.ts";'],
  ];
  test.each(harmless.map(([form, text]) => [form, plant("core", text)]))(
    "%s is no import of another folder",
    (_, file) => expect(broken(file)).toBe(""),
  );
});

describe("who may import whom", () => {
  const cases: [string, string, string][] = [
    ["environments", "../scorers/index.ts", ""],
    ["environments", "../stats/index.ts", "environments-imports"],
    ["cli", "../index.ts", ""],
    ["cli", "../gate/inner.ts", ""],
    ["gate", "../index.ts", "gate-imports"],
    ["gate", "../cli/index.ts", "cli-is-on-top\ngate-imports"],
    ["course", "../index.ts", ""],
    ["course", "../runs/index.ts", ""],
    ["course", "../runs/inner.ts", "course-imports"],
    ["course", "../cli/index.ts", "cli-is-on-top"],
  ];
  test.each(
    cases.map(([folder, target, rule]) => [
      folder,
      target,
      rule,
      plant(folder, `import "${target}";`),
    ]),
  )("%s, %s: %s", (_, __, rule, file) => {
    expect(broken(file).split("\n").sort().join("\n")).toBe(rule);
  });

  planted["src/stats/facade.ts"] = 'import "../index.ts";';
  planted["src/index.test.ts"] = 'import "./cli/index.ts";';
  test("nothing but course and cli sees the facade, and the facade does not see cli", () => {
    expect(broken("src/stats/facade.ts")).toBe("stats-imports");
    expect(broken("src/index.test.ts")).toBe("cli-is-on-top");
  });

  const other = plant("core", 'import "../runs/inner.ts";', ".test.ts");
  const cli = plant("core", 'import "../cli/index.ts";', ".test.ts");
  test("tests may import other folders, but not cli from below it", () => {
    expect(broken(other)).toBe("");
    expect(broken(cli)).toBe("cli-is-on-top");
  });
});

describe("places", () => {
  planted["src/utils/x.ts"] = "export const a = 1;";
  planted["src/helpers.ts"] = "export const a = 1;";
  test.each(["src/utils/x.ts", "src/helpers.ts"])("%s is in no folder of the table", (file) => {
    expect(broken(file)).toBe("unknown-folder");
  });
});

describe("what a folder may not use", () => {
  const cases: [string, string, RegExp][] = [
    ["core", 'import { readFileSync } from "node:fs";', /^core-is-pure\nfile-system$/],
    ["core", 'import { get } from "http";', /^core-is-pure$/],
    ["core", "export const now = () => Date.now();", /variable Date/],
    ["core", "export const now = (): number => new globalThis.Date();", /variable globalThis/],
    ["core", "export const now = performance.now();", /variable performance/],
    ["core", "export const host = process.platform;", /variable process/],
    ["core", 'export const page = await fetch("x");', /variable fetch/],
    ["core", `export const a = \`\${setTimeout(() => {}, 1)}\`;`, /variable setTimeout/],
    ["core", "export const a = setInterval(b, 1);", /variable setInterval/],
    ["core", "export const a = setImmediate(b);", /variable setImmediate/],
    ["core", "export const a = Math.random();", /^Math.random cannot be repeated/],
    ["stats", "export const a = Math?.random();", /^Math.random/],
    ["stats", 'export const a = Math["random"]();', /^Math.random/],
    ["stats", "export const { random, floor } = Math;", /^Math.random/],
    ["stats", "export const a = globalThis.Math.random();", /^Math.random/],
    ["cli", "export const a = Math.random;", /^Math.random/],
    ["runs", "export const home = process.env.HOME;", /^Only cli reads/],
    ["runs", "export const home = process?.env.HOME;", /^Only cli reads/],
    ["runs", "export const { argv, env } = process;", /^Only cli reads/],
    ["runs", "process.exit(1);", /^Only cli reads/],
    ["runs", 'process["exit"](1);', /^Only cli reads/],
    ["runs", 'import { exit } from "node:process";', /^process$/],
    ["stats", 'import { exit } from "process";', /^process$/],
    ["stats", 'import { readFile } from "node:fs/promises";', /^file-system$/],
  ];
  test.each(
    cases.map(([folder, text, rule]) => [folder, text, rule, plant(folder, text)] as const),
  )("%s: %s", (_, __, rule, file) => expect(broken(file)).toMatch(rule));

  const fine: [string, string][] = [
    ["core", 'import { createHash } from "node:crypto";\nexport { createHash };'],
    ["core", "// Date.now() and Math.random()"],
    ["core", 'export const text = "Date.now() process.env Math.random";'],
    ["core", "export const pattern = /process.env/;"],
    ["core", "export const a = (row: { process: string }) => row.process;"],
    ["core", "export const a = { fetch: 1, process() { return 1; } };"],
    ["core", "export interface Source { fetch(url: string): string; Date?: string }"],
    ["core", "export const a = Math.floor(1.5);"],
    ["runs", "export const now = Date.now();"],
    ["runs", 'import { readFile } from "node:fs/promises";\nprocess.stdout.write(readFile);'],
    ["cli", "process.exit(Number(process.env.CODE));"],
  ];
  test.each(fine.map(([folder, text]) => [folder, text, plant(folder, text)]))(
    "%s may: %s",
    (_, __, file) => expect(broken(file)).toBe(""),
  );

  const effects = 'import "node:fs";\nsetTimeout(() => process.env.HOME, Date.now());';
  const free = plant("core", effects, ".test.ts");
  const random = plant("core", "Math.random();", ".test.ts");
  test("tests may use the clock and the environment, but not Math.random", () => {
    expect(broken(free)).toBe("");
    expect(broken(random)).toMatch(/^Math.random/);
  });
});

describe("circles", () => {
  planted["src/core/one.ts"] = 'import { b } from "./two.ts";\nexport const a = b;';
  planted["src/core/two.ts"] = 'import type { a } from "./one.ts";\nexport const b: typeof a = 1;';
  planted["src/loops/pool.ts"] = 'export const worker = new URL("./worker.js", import.meta.url);';
  planted["src/loops/worker.ts"] = 'import type { Job } from "./pool.ts";';
  test("two files that import each other fail, types included", () => {
    expect(broken("src/core/one.ts")).toBe("cycle");
  });
  test("a file that starts a worker which imports it is no circle", () => {
    expect(broken("src/loops/worker.ts")).toBe("");
  });
});
