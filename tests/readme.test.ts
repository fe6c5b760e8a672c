import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import { evalTables } from "../bench/eval-tables.mjs";
// @ts-expect-error plain JavaScript
import { withRealOutput } from "../scripts/readme-output.mjs";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("the README's commands run and print what it shows (npm run readme)", async () => {
  const real = (await withRealOutput(readme)) as string;
  expect(real).toContain("REJECT  the runs are not comparable");
  expect(real).toBe(readme);
});

test("the README is short", () => {
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(180);
});

test("the figures of docs/benchmarks.md are those of the committed benchmark (npm run bench)", () => {
  const results = JSON.parse(
    readFileSync(new URL("../bench/results.json", import.meta.url), "utf8"),
  );
  const page = readFileSync(new URL("../docs/benchmarks.md", import.meta.url), "utf8");
  expect(page).toContain(evalTables(results));
  for (const measured of ["100k rows", "1M rows", "10k × 64 samples", "node -e 0"]) {
    expect(
      results.checks.some(({ name }: { name: string }) => name.includes(measured)),
      measured,
    ).toBe(true);
  }
  for (const { name, value, limit } of results.checks)
    expect(value, name).toBeLessThanOrEqual(limit);
});

test("paths and links that the documents name exist", () => {
  for (const file of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]) {
    const text = readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#]+)\)/g)) {
      expect(
        () => readFileSync(new URL(`../${target}`, import.meta.url)),
        `${file}: ${target}`,
      ).not.toThrow(/ENOENT/);
    }
  }
});

test("code fences are balanced, so that nothing renders as something else", () => {
  expect(readme.match(/^```/gm)?.length ?? 0).toBe(
    2 * (readme.match(/^```[a-z]+$/gm)?.length ?? 0),
  );
  expect(readme).not.toMatch(/^````/m);
});
