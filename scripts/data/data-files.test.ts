import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/core/json.ts";
import { toCompletion, toExample, toGoldenRow, toSelectionPack } from "../../src/core/records.ts";
import { generateDataFiles } from "./data-files.ts";

const DATA = fileURLToPath(new URL("../../data/", import.meta.url));
const READERS = {
  "datasets/math_train.jsonl": toExample,
  "datasets/math_dev.jsonl": toExample,
  "datasets/math_holdout.jsonl": toExample,
  "rollouts/frozen_rollouts_dev.jsonl": toCompletion,
  "rollouts/selection_pack_dev.jsonl": toSelectionPack,
  "golden/golden_correct.jsonl": toGoldenRow,
  "golden/golden_exploits.jsonl": toGoldenRow,
};
const files = generateDataFiles();

it("the generator makes exactly these files", () => {
  expect(files.map(({ path }) => path)).toEqual(Object.keys(READERS));
});

describe.each(files)("$path", ({ path, content }) => {
  it("regenerates to the committed bytes", () => {
    expect(readFileSync(DATA + path).equals(Buffer.from(content, "utf8"))).toBe(true);
  });

  it("is one canonical record a line", () => {
    expect(content.endsWith("\n")).toBe(true);
    for (const line of content.slice(0, -1).split("\n")) {
      const fields = JSON.parse(line);
      expect(canonicalJson(READERS[path as keyof typeof READERS](fields))).toBe(line);
    }
  });
});

it("the data sets are plain ASCII", () => {
  for (const { path, content } of files) {
    if (path.startsWith("datasets/")) expect(content).toMatch(/^[\n -~]*$/);
  }
});

it("no other data file lies beside them", () => {
  const folders = ["datasets", "rollouts", "golden"];
  const found = folders.flatMap((folder) =>
    readdirSync(DATA + folder).map((name) => `${folder}/${name}`),
  );
  expect(found.sort()).toEqual(Object.keys(READERS).sort());
});
