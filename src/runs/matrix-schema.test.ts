import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readMatrix } from "./matrix-schema.ts";

const file = path.join(mkdtempSync(path.join(tmpdir(), "lockedroom-matrix-")), "matrix.yaml");
const read = (more: string) => {
  writeFileSync(file, `dataset: d.jsonl\nprompts: { plain: }\nmodels: { a: pi0 }\n${more}`);
  return readMatrix(file, parse);
};

test("an unknown key is named, with the one that was meant", async () => {
  await expect(read("scorers: mine.ts\n")).rejects.toMatchObject({
    message: `${file}: unknown key scorers`,
    hint: expect.stringMatching(/^Did you mean scorer\? The keys are dataset, prompts, /),
  });
  await expect(read("sampling: { max_token: 5 }\n")).rejects.toMatchObject({
    message: `${file}: unknown key max_token in sampling`,
    hint: expect.stringContaining("Did you mean max_tokens?"),
  });
  expect(await read("scorer: mine.ts\nsampling: { max_tokens: 5 }\n")).toMatchObject({
    ...{ scorer: "mine.ts", sampling: { max_tokens: 5, temperature: 1 } },
  });
});

test("a value of the wrong kind is still said to be one", async () => {
  await expect(read("n: many\n")).rejects.toThrow(/is not a matrix: n: /);
});
