/** Pictures whose making takes a training are drawn again from the figures that it left. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import { learningCommand, learningPicture, misformed } from "../scripts/learning-picture.mjs";
import { lineChart } from "../src/charts/index.ts";
import { tradeoffChart } from "../src/curves/tradeoff.ts";
import type { SweepPoint, Tradeoff } from "../src/runs/sweep-schema.ts";
import { ROOT } from "./cli.ts";

const read = (name: string) => readFileSync(path.join(ROOT, name), "utf8");
const json = (name: string) => JSON.parse(read(name));
const textsOf = (svg: string) =>
  [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text = ""]) => text);

describe("the README's picture of learning (npm run learning-picture)", () => {
  const figures = json("docs/images/learning.json");
  const readme = read("README.md");

  test("is drawn from its figures", async () => {
    expect((await learningPicture(figures)) === read("docs/images/learning.svg")).toBe(true);
  });

  test("is of the README's command, of π₀ and of the data as they are", () => {
    expect(figures.command).toBe(learningCommand(readme));
    expect(figures.init_fingerprint).toBe(json("assets/pi0/config.json").lockedroom.fingerprint);
    expect(figures.inputs).toHaveLength(2);
    for (const { path: file, sha256 } of figures.inputs) {
      expect(createHash("sha256").update(read(file)).digest("hex"), file).toBe(sha256);
    }
    expect(figures.steps).toHaveLength(50);
    expect(figures.evaluations.at(-1).step).toBe(50);
  });

  test("is shown with a text that says what is to be seen, in its numbers", () => {
    const [, alt = ""] = /!\[([^\]]*)\]\(docs\/images\/learning\.svg\)/.exec(readme) ?? [];
    const [start, end] = [figures.evaluations[0], figures.evaluations.at(-1)];
    const ends = [start.pass_rate, end.pass_rate, misformed(start), misformed(end)];
    const shown = ends.map((value: number) => value.toFixed(2));
    expect(alt.match(/\d\.\d+/g)).toEqual(shown);
    expect(textsOf(read("docs/images/learning.svg"))).toEqual(expect.arrayContaining(shown));
  });
});

test("the KL penalty recipe's chart is drawn from its figures, with every β beside its point", () => {
  const figures = json("recipes/kl-penalty/results.json");
  const curve: Tradeoff = json("recipes/kl-penalty/tradeoff.json");
  expect(curve.points.map(({ value, x, y }) => [value, x, y])).toEqual(
    figures.map((one: SweepPoint) => [one.value, one.kl_exact, one.reward_mean]),
  );
  const svg = lineChart(tradeoffChart(curve));
  expect(svg === read("recipes/kl-penalty/tradeoff.svg")).toBe(true);
  const labels = textsOf(/<g [^>]*paint-order.*?<\/g>/.exec(svg)?.[0] ?? "");
  expect(labels.toSorted()).toEqual(curve.points.map(({ value }) => `${value}`).toSorted());
});
