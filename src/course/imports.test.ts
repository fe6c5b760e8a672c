import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { foreignImports } from "./imports.ts";
import { TWO_STEP } from "./run-commands.ts";
import { TWO_STEP_IMPORTS } from "./two-step-checks.ts";
import { TEMPLATES } from "./workspace.ts";

const foreign = (source: string) => foreignImports(source, TWO_STEP_IMPORTS);
const template = readFileSync(path.join(TEMPLATES, TWO_STEP), "utf8");

test("the assignment as it is given imports what it may", () => {
  expect(foreign(template)).toEqual([]);
  expect(foreign('// import { trainOnDraws } from "lockedroom/learn";\n')).toEqual([]);
  expect(foreign('import type { TwoStepUpdate } from "lockedroom/learn";')).toEqual([]);
  expect(foreign('import { softmax as p } from "lockedroom/learn";')).toEqual([]);
});

test.each([
  [
    "the reference solution",
    template.replace("  softmax,", "  softmax,\n  TWO_STEP_UPDATES,\n  actionAt,"),
    ['TWO_STEP_UPDATES from "lockedroom/learn"', 'actionAt from "lockedroom/learn"'],
  ],
  ["another name", 'import { trainOnDraws as t } from "lockedroom/learn"', ["trainOnDraws from"]],
  ["the whole module", 'import * as all from "lockedroom/learn"', ["* as all from"]],
  ["a default", 'import all, { softmax } from "lockedroom/learn"', ["all from"]],
  ["the package", 'import { softmax } from "lockedroom"', ['softmax from "lockedroom"']],
  ["a second file", 'import { update } from "./solution.ts"', ["update from"]],
  ["a side effect", 'import "./solution.ts"', ['"./solution.ts"']],
  ["a later import", 'const all = await import("lockedroom/learn")', ["import()"]],
  ["a comment in between", 'import/**/{reinforceStep}from"lockedroom/learn"', ["reinforceStep"]],
  [
    "an import between two strings",
    'const a = "/*";\nimport { trainOnDraws } from "lockedroom/learn";\nconst b = "*/";',
    ["trainOnDraws"],
  ],
  ["the loader of Node", 'createRequire(0); require("lockedroom")', ["require"]],
])("%s is refused", (_, source, shown) => {
  const found = foreign(source);
  expect(found).toHaveLength(shown.length);
  for (const [i, text] of shown.entries()) expect(found[i]).toContain(text);
});
