/** The manual is played: every command runs, every number is looked up, every place is gone to. */

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import * as script from "../scripts/manual-output.mjs";
import { COMMANDS } from "../src/cli/commands.ts";

interface Script {
  readonly manual: string;
  readonly MARKER: RegExp;
  readonly PICTURES: Readonly<Record<string, string>>;
  pageNames(): string[];
  playPage(name: string, use: (folder: string) => void): Promise<string>;
  playPages(names: readonly string[], play: (name: string) => Promise<void>): Promise<void>;
  fieldOf(folder: string, file: string, field: string): unknown;
}

const { manual, MARKER, PICTURES, pageNames, playPage, playPages, fieldOf } = script as Script;
const root = path.resolve(manual, "../..");

const names = pageNames();
const pages = new Map(names.map((name) => [name, read(path.join(manual, name))]));
const chapters = names.filter((name) => /^## Drill$/m.test(page(name)));

/** A concept's place in the code, and what its chapter's drill leaves behind. */
interface Place {
  readonly page: string;
  readonly file: string;
  readonly name: string;
  readonly artifact: string;
  readonly field: string | undefined;
}

const MAP_ROW =
  /^\| \[[^\]]+\]\(([^)]+)\) \| `([^`]+)` \| `([^`]+)` \| `([^`]+)`(?: `([^`]+)`)? \|$/gm;
const LOOK_HERE = /^\*\*Look here:\*\* `([^`]+)` · `([^`]+)` · `([^`]+)` `([^`]+)`$/m;

const map: Place[] = [...page("17-map.md").matchAll(MAP_ROW)].map(
  ([, to = "", file = "", name = "", artifact = "", field]) => ({
    page: to,
    file,
    name,
    artifact,
    field,
  }),
);

/** A hundred and fifty processes and a few small trainings: under a minute when nothing else runs. */
const BUSY_MACHINE_MS = 600_000;

describe("played in a fresh folder", () => {
  const played = new Map<string, string>();
  const found = new Map<Place, boolean>();
  const drawn = new Map<string, string>();

  beforeAll(
    () =>
      playPages(names, async (name) => {
        const look = (folder: string) => {
          for (const place of map.filter((row) => row.page === name))
            found.set(place, isThere(folder, place));
          for (const [picture, file] of Object.entries(PICTURES))
            if (existsSync(path.join(folder, file)))
              drawn.set(picture, read(path.join(folder, file)));
        };
        played.set(name, await playPage(name, look));
      }),
    BUSY_MACHINE_MS,
  );

  test.each(names)("%s shows what its commands print and its runs measure", (name) => {
    expect(played.get(name), "npm run manual-output").toBe(page(name));
  });

  test("each picture of a run is what the run draws", () => {
    expect([...drawn.keys()]).toEqual(Object.keys(PICTURES));
    for (const [picture, svg] of drawn) expect(read(path.join(root, picture)) === svg).toBe(true);
  });

  test("each artifact of the map is left behind by its chapter's drill", () => {
    const absent = map.filter((place) => !found.get(place));
    expect(absent).toEqual([]);
  });
});

test("the map has every chapter and names code that is there", () => {
  expect(map.length).toBeGreaterThanOrEqual(16);
  expect([...new Set(map.map((row) => row.page))]).toEqual(chapters);
  const rows = page("17-map.md").match(/^\| \[/gm);
  expect(map.length, "rows that could be read").toBe(rows?.length);
  for (const { file, name } of map) {
    expect(read(path.join(root, file)), file).toMatch(
      new RegExp(`\\b(?:function\\*?|const|class) ${name}\\b`),
    );
  }
});

test.each(chapters)("%s has a drill, a question, a check and a place to look at", (name) => {
  const text = page(name);
  const at = (part: RegExp) => text.search(part);
  expect(at(/^## Drill$/m)).toBeGreaterThan(0);
  expect(at(/^\*\*Question\.\*\* [^\n]*\?$/m)).toBeGreaterThan(at(/^## Drill$/m));
  expect(at(/^\*\*Check\.\*\* /m)).toBeGreaterThan(at(/^\*\*Question\.\*\* /m));
  expect(text.slice(at(/^## Drill$/m))).toContain("```console\n$ ");
  if (!name.startsWith("15")) expect(text).toContain("\n## The typical mistake\n");

  const [, file, code, artifact, field] = LOOK_HERE.exec(text) ?? [];
  expect(
    map.filter(
      (row) =>
        row.page === name &&
        row.file === file &&
        row.name === code &&
        row.artifact === artifact &&
        row.field === field,
    ),
    "its place is a row of the map",
  ).toHaveLength(1);
});

test("the contents list the pages in reading order, and each page leads to the next", () => {
  const listed = [...page("README.md").matchAll(/^(\d+)\. \[[^\]]+\]\(([^)]+)\)/gm)];
  expect(listed.map(([, , to]) => to)).toEqual(names.slice(1));
  for (const [, number, name = ""] of listed) {
    expect(name).toMatch(new RegExp(`^${number?.padStart(2, "0")}-`));
    expect(page(name)).toMatch(new RegExp(`^# ${number}\\. `));
    const next = names[names.indexOf(name) + 1];
    const last = page(name).trimEnd().split("\n").at(-1);
    expect(last).toMatch(/^\[Contents\]\(README\.md\)/);
    if (next) expect(last).toMatch(new RegExp(`next: \\[[^\\]]+\\]\\(${next}\\)$`));
  }
});

const DIAGRAMS: Record<string, string> = {
  "01": "1-three-loops",
  "02": "9-objects",
  "03": "3-token-and-completion",
  "04": "4-token-text-boundary",
  "05": "2-log-probs",
  "08": "5-frozen-rollouts",
  "09": "7-kl-tradeoff",
  "12": "6-goodhart",
  "13": "8-debugging",
  "27": "11-episode",
};

test("links and pictures lead somewhere, and each diagram is in its chapter", () => {
  for (const name of names) {
    for (const [, target = ""] of page(name).matchAll(/\]\(([^)#]+)[^)]*\)/g))
      expect(existsSync(path.join(manual, target)), `${name}: ${target}`).toBe(true);
  }
  for (const [chapter, diagram] of Object.entries(DIAGRAMS)) {
    const name = chapters.find((one) => one.startsWith(chapter)) ?? "";
    expect(page(name)).toMatch(new RegExp(`!\\[[^\\]]{20,}\\]\\(diagrams/${diagram}\\.svg\\)`));
    expect(existsSync(path.join(manual, `diagrams/${diagram}.mmd`)), diagram).toBe(true);
  }
});

/** The diagrams that the course documents ask for. */
const NINE = Object.entries(DIAGRAMS).filter(([, name]) => Number.parseInt(name, 10) <= 9);

test("below each diagram stands how to read it, and a mini exercise with its answer", () => {
  for (const [chapter, diagram] of NINE) {
    const name = chapters.find((one) => one.startsWith(chapter)) ?? "";
    const [, below = ""] = page(name).split(`(diagrams/${diagram}.svg)\n`);
    const [read = "", exercise = ""] = below.trim().split("\n\n");
    expect(read, name).toMatch(/^\*\*How to read it\.\*\* .{100,}$/);
    expect(exercise, name).toMatch(/^\*\*Mini exercise\.\*\* .+[?.] \*Answer:\* .{5,}\.$/);
  }
});

test("the checklist says what each of four numbers may and may not claim", () => {
  const rows = [...page("26-checklist.md").matchAll(/^\| \*\*(.+?)\*\* \|(?: [^|]{10,} \|){3}$/gm)];
  expect(rows.map(([, claim]) => claim)).toEqual(["pass@8", "pass@1", "mean reward", "holdout"]);
});

test("the contents page has the themes, the artifacts, and where the course differs and why", () => {
  const text = page("README.md");
  for (const theme of ["Measurement", "Specification", "Optimisation under pressure"])
    expect(text).toMatch(new RegExp(`^- \\*\\*${theme}\\.\\*\\* .* Chapters `, "m"));
  const [, built = ""] = text.split("## What is built, and what is not");
  expect(built.match(/^\d\. \*\*/gm)?.length).toBeGreaterThanOrEqual(3);
  expect(built).toContain("\nNot covered: ");
  const [, differs = ""] = text.split("## Where this differs from the course documents");
  const rows = [...differs.matchAll(/^\| ([^|]+) \|(?: [^|]+ \|){2} [^|]{60,} \|$/gm)];
  expect(rows.map(([, subject]) => subject?.split(/[ ,]/)[0])).toEqual([
    "sampling",
    "trap",
    "samples",
    "order",
    "run",
    "loop",
  ]);
});

test("each of nine symptoms leads to a diagram of its own, in its chapter", () => {
  const [, table = ""] = page("README.md").split("## Which diagram for which symptom");
  const rows = [...table.matchAll(/^\| .+ \| .+ \| \[(\d+)\]\(([^)]+)\) \|$/gm)];
  const shown = rows.map(([, , name = ""]) => /diagrams\/([\w-]+)\.svg/.exec(page(name))?.[1]);
  expect([...shown].sort()).toEqual(NINE.map(([, name]) => name).sort());
});

test("code fits a terminal of 80 columns, and no drill ends in an error", () => {
  for (const name of names) {
    for (const [block] of page(name).matchAll(/^```[\s\S]*?^```$/gm)) {
      for (const line of block.split("\n")) {
        expect([...line].length, `${name}: ${line}`).toBeLessThanOrEqual(80);
        expect(line, name).not.toMatch(/^lockedroom: |No such file|command not found/);
      }
    }
    const fences = page(name).match(/^```.*$/gm) ?? [];
    expect(fences.filter((_, i) => i % 2 === 1).every((fence) => fence === "```")).toBe(true);
    expect(fences.length % 2).toBe(0);
  }
});

test("a drill writes into its chapter's folder only, so that one clone can hold them all", () => {
  for (const name of names) {
    for (const [block] of page(name).matchAll(/^```console\n[\s\S]*?^```$/gm)) {
      for (const [, where] of block.matchAll(/(?:--outdir|--report|(?<=[ "'])>) +(\S+)/g))
        expect(where, name).toMatch(new RegExp(`^runs/ch${name.slice(0, 2)}/`));
    }
  }
});

/**
 * The manual explains concepts: it needs the commands of the levels, the microscopes and the track.
 * Commands that put real models to work explain themselves with --help.
 */
const TAUGHT: readonly string[] = [
  ...(["eval", "inspect-run", "validate-scorer", "selection-demo", "gate"] as const),
  ...(["bandit-train", "two-step-mdp", "kl-tradeoff-demo", "kl-choice"] as const),
  ...(["token-inspect", "goodhart-demo"] as const),
  ...(["tour", "manual", "init", "level", "check", "quiz", "drill", "run", "test"] as const),
  ...(["plan", "scoreboard", "diagnose"] as const),
  ...(["env", "rollout", "train", "export", "import"] as const),
];

test("every command that is taught is in the manual, and the manual knows no others", () => {
  const named = new Set<string>();
  for (const text of pages.values())
    for (const [, command = ""] of text.matchAll(/\.\/lockedroom ([a-z][a-z-]*)/g))
      named.add(command);
  expect(TAUGHT.filter((command) => !named.has(command))).toEqual([]);
  expect([...named].filter((command) => !Object.hasOwn(COMMANDS, command))).toEqual([]);
});

/** Numbers that are arithmetic or convention, not measurement, and where they come from. */
const weights = [2, 1, 0].map((logit) => Math.exp(logit));
const softmax = weights.map((weight) => weight / weights.reduce((a, b) => a + b));
const kl = (p: readonly number[], q: readonly number[]) =>
  p.reduce((sum, pi, i) => sum + pi * Math.log(pi / (q[i] ?? 0)), 0);
const DEFINED: Record<string, number> = {
  "0.665": softmax[0] ?? 0,
  "0.245": softmax[1] ?? 0,
  "0.090": softmax[2] ?? 0,
  "0.105": -Math.log(0.9),
  "2.303": -Math.log(0.1),
  "2.408": -Math.log(0.9) - Math.log(0.1),
  "0.09": 0.9 * 0.1,
  "0.368": kl([0.9, 0.1], [0.5, 0.5]),
  "0.511": kl([0.5, 0.5], [0.9, 0.1]),
  /** The bound on the KL of best-of-4. */
  "0.636": Math.log(4) - 3 / 4,
  /** One of four equal arms; also E[(r − 0.5)²] of a reward of 0 or 1. */
  "0.25": 1 / 4,
  /** The squared length of the bandit's mean update at the start. */
  "0.0125": [0.2, 0.4, 0.6, 0.8].reduce((sum, pays) => sum + ((pays - 0.5) / 4) ** 2, 0),
  /** The gate's usual --alpha. */
  "0.05": 1 / 20,
  /** The gate's words for certainty, and the smallest p-value that it prints. */
  "0.001": 1 / 1000,
  "0.01": 1 / 100,
  "0.0001": 1 / 10_000,
  /** Chapter 11's example: 98 gains of one size are as much as two losses of the other. */
  "0.02": 2 / 100,
  "0.98": 98 / 100,
};

test("a number in the prose was measured by a run, or follows from arithmetic", () => {
  const used = new Set<string>();
  for (const [name, text] of pages) {
    const prose = text.replace(/^```console\n[\s\S]*?^```$/gm, "").replace(MARKER, "");
    for (const [number] of prose.matchAll(/(?<![\w.])\d+\.\d{2,}(?![\d.]*\d)/g)) {
      const decimals = number.length - number.indexOf(".") - 1;
      expect(DEFINED[number]?.toFixed(decimals), `${name}: ${number} has no source`).toBe(number);
      used.add(number);
    }
    expect(text.replace(MARKER, ""), `${name}: a marker that cannot be read`).not.toContain("<!--");
  }
  expect([...used].sort()).toEqual(Object.keys(DEFINED).sort());
});

function page(name: string): string {
  const text = pages.get(name);
  if (text === undefined) throw new Error(`the manual has no page ${name}`);
  return text;
}

function read(file: string): string {
  return readFileSync(file, "utf8");
}

function isThere(folder: string, { artifact, field }: Place): boolean {
  if (field === undefined) return existsSync(path.join(folder, artifact));
  const value = fieldOf(folder, artifact, field);
  return value !== undefined && value !== null;
}
