/** The stored curves are those of real runs: one case, made again, has the same bytes. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import * as script from "../scripts/make-diagnose.mjs";

const { makeCase, FOLDER, CASES } = script as {
  makeCase(name: string): Promise<string>;
  FOLDER: string;
  CASES: Readonly<Record<string, { readonly cause: string }>>;
};
const stored = (name: string) => readFileSync(path.join(FOLDER, `${name}.json`), "utf8");

test("the script makes the stored bytes of one case again", { timeout: 300_000 }, async () => {
  expect(await makeCase("shifted-logprobs")).toBe(stored("shifted-logprobs"));
});

test.each(Object.entries(CASES))("%s is stored with the cause of the script", (name, { cause }) => {
  expect(JSON.parse(stored(name))).toMatchObject({ name, cause });
});
