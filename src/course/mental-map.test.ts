/** The mental map: what counts as a written drill, and what does not. */

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { DRILLS, MENTAL_MAP, readMentalMap } from "./mental-map.ts";
import { TEMPLATES } from "./workspace.ts";

const template = readFileSync(path.join(TEMPLATES, MENTAL_MAP), "utf8");
const FAILURE = "dev-0004 got 113 for 95 - 77, in the right format: model";

/** The template with four lines written for one drill. */
function written(
  id: string,
  lines: Readonly<Record<string, string>> = {},
  text: string = template,
): string {
  const values = {
    Loop: "A",
    Knob: "measurement",
    "Failure and class": FAILURE,
    "Next change": "sample four and select",
    ...lines,
  };
  const [head, ...rest] = text.split(`## ${id} `);
  let body = rest.join(`## ${id} `);
  for (const [label, value] of Object.entries(values))
    body = body.replace(`**${label}:** _yours to write_`, `**${label}:** ${value}`);
  return `${head}## ${id} ${body}`;
}

const problemOf = (text: string, id: string) =>
  readMentalMap(text).drills.find((drill) => drill.id === id)?.problem;

test("the template has a section for each drill, and none of them counts", () => {
  const headings = [...template.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(DRILLS.map(({ id, title }) => `${id} ${title}`));
  expect(readMentalMap(template)).toMatchObject({ written: 0, total: DRILLS.length });
  expect(readMentalMap(template).drills.every(({ problem }) => problem === null)).toBe(true);
  expect(readMentalMap(undefined).written).toBe(0);
});

test("every drill of the manual has a row, with its loops and knobs", () => {
  const folder = new URL("../../docs/manual/", import.meta.url);
  const withDrill = readdirSync(folder).filter(
    (name) =>
      /^\d\d-/.test(name) && /^## Drill$/m.test(readFileSync(new URL(name, folder), "utf8")),
  );
  const rows = new Set(DRILLS.map(({ id }) => String(Number.parseInt(id, 10)).padStart(2, "0")));
  expect(withDrill.length).toBeGreaterThan(15);
  expect(withDrill.filter((name) => !rows.has(name.slice(0, 2)))).toEqual([]);
  expect(DRILLS.every(({ loops, knobs }) => loops.length > 0 && knobs.length > 0)).toBe(true);
});

test("four lines count", () => {
  const map = readMentalMap(written("4"));
  expect(map.written).toBe(1);
  expect(map.drills.filter((drill) => drill.written).map(({ id }) => id)).toEqual(["4"]);
  expect(readMentalMap(written("4", { Loop: "Loop A (evaluation)" })).written).toBe(1);
});

test.each([
  ["the loop of another drill", { Loop: "C" }, "Loop A"],
  ["no loop", { Loop: "measurement" }, "Loop A"],
  ["two knobs", { Knob: "policy and environment" }, "Knob: name one of"],
  [
    "a failure without its class",
    { "Failure and class": "one row was wrong somehow here" },
    "model",
  ],
  [
    "a failure of every class",
    { "Failure and class": "one row was wrong: model, verifier, spec or data" },
    "exactly one of model, verifier, spec, data, not model and verifier",
  ],
  ["a knob that the drill does not turn", { Knob: "selection" }, "do not turn the selection"],
  [
    "three changes",
    { "Next change": "change the scorer and the prompt and train longer" },
    "exactly one, not 3",
  ],
  ["a class without a failure", { "Failure and class": "model" }, "at least 6 words"],
  ["no next change", { "Next change": "none" }, "Next change"],
  ["a blank", { Knob: "_yours to write_" }, "Knob: nothing written"],
])("%s does not count", (_, lines, problem) => {
  expect(readMentalMap(written("4", lines)).written).toBe(0);
  expect(problemOf(written("4", lines), "4")).toContain(problem);
});

test("a failure that was copied from another drill does not count", () => {
  const copied = written("11", {}, written("10"));
  expect(readMentalMap(copied).written).toBe(1);
  expect(problemOf(copied, "11")).toContain("another drill");
});

test("one sentence for every drill counts once, whatever ends it", () => {
  const all = DRILLS.reduce((text, { id, loops, knobs }, i) => {
    const lines = { Loop: loops[0] ?? "", Knob: knobs[0] ?? "" };
    return written(id, { ...lines, "Failure and class": `${FAILURE}${".".repeat(i)}` }, text);
  }, template);
  expect(readMentalMap(all).written).toBe(1);
});

test("no knob fits every drill", () => {
  for (const knob of ["measurement", "selection", "policy", "environment"] as const) {
    expect(DRILLS.filter(({ knobs }) => !knobs.includes(knob)).length).toBeGreaterThan(5);
  }
});
