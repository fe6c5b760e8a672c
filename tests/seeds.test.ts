/** docs/seeds.md: every item of the source documents leads to something that is there. */

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import * as script from "../scripts/make-seeds.mjs";
import { EXTRA_LEVELS, LEVELS } from "../src/course/check.ts";
import { QUESTIONS } from "../src/course/quizzes/index.ts";
import { ROOT } from "./cli.ts";
import { commandProblem } from "./command-line.ts";

interface Item {
  readonly item: string;
  readonly state?: "there" | "different" | "planned";
  readonly why?: string;
  readonly where?: readonly string[];
  readonly shown?: readonly string[];
}

interface Data {
  readonly documents: readonly {
    readonly name: string;
    readonly title: string;
    readonly parts: readonly { readonly title: string; readonly items: readonly Item[] }[];
  }[];
}

/** What was counted in each document. */
const ITEMS = { "000": 94, "001": 82, "002": 48, "003": 35 };

type Link =
  | { readonly kind: "test"; readonly file: string; readonly title: string }
  | { readonly kind: "check"; readonly level: string; readonly id: string }
  | { readonly kind: "quiz"; readonly level: string; readonly id: string }
  | { readonly kind: "command"; readonly words: readonly string[] }
  | {
      readonly kind: "file";
      readonly file: string;
      readonly anchor?: string;
      readonly phrase?: string;
    };

const { DATA, PAGE, seedsPage, readLink } = script as {
  readonly DATA: string;
  readonly PAGE: string;
  seedsPage(data: Data): string;
  readLink(text: string): Link;
};
const data = JSON.parse(readFileSync(DATA, "utf8")) as Data;
const items = data.documents.flatMap(({ name, parts }) =>
  parts.flatMap(({ title, items: list }) =>
    list.map((item) => ({ ...item, of: `${name} ${title}` })),
  ),
);

const texts = new Map<string, string>();
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(path.join(ROOT, file), "utf8");
  texts.set(file, text);
  return text;
}

/** A whole file says little: it is there even when what it held has moved. */
const SOURCE = /\.[cm]?[jt]s$/;

/** What is wrong with a link; undefined for a living one. */
async function broken(text: string): Promise<string | undefined> {
  const link = readLink(text);
  if (link.kind === "command") return commandProblem(link.words);
  if (link.kind === "check") {
    const level = [...LEVELS, ...EXTRA_LEVELS].find(({ id }) => id === link.level);
    return level?.checks.some(({ id }) => id === link.id) ? undefined : "no such check";
  }
  if (link.kind === "quiz") {
    const questions = (QUESTIONS as Record<string, readonly { readonly id: string }[]>)[link.level];
    return questions?.some(({ id }) => id === link.id) ? undefined : "no such question";
  }
  if (!existsSync(path.join(ROOT, link.file))) return "no such file";
  if (link.kind === "file" && SOURCE.test(link.file) && !link.anchor && !link.phrase)
    return "a source file without # or ~";
  if (link.kind === "test")
    return titlesOf(link.file).includes(link.title) ? undefined : "no such test";
  const content = link.anchor === undefined && link.phrase === undefined ? "" : textOf(link.file);
  if (link.phrase !== undefined && !content.includes(link.phrase)) return "no such phrase";
  if (link.anchor === undefined) return undefined;
  const found = link.file.endsWith(".md")
    ? anchorsOf(content).includes(link.anchor)
    : new RegExp(`(?<![\\w-])${link.anchor}(?![\\w-])`).test(content);
  return found ? undefined : "no such name";
}

/** Titles of tests and of groups of them; also of those that a table gives. */
const TITLE =
  /(?:\b(?:test|it|describe)(?:\.\w+)*\(|\)\(|\[)\s*(?:"((?:[^"\\\n]|\\.)+)"|`([^`$]+)`)/g;

function titlesOf(file: string): string[] {
  return [...textOf(file).matchAll(TITLE)].map(([, quoted, template]) => quoted ?? template ?? "");
}

function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("the page is what the script makes of the data (npm run seeds)", () => {
  expect(readFileSync(PAGE, "utf8")).toBe(seedsPage(data));
});

describe("every item", () => {
  test("has a place and something that shows it, or says why not", () => {
    const bare = items.filter(({ state = "there", where = [], shown = [], why }) =>
      state === "there" || state === "different"
        ? where.length === 0 || shown.length === 0 || (state === "different" && !why)
        : !why,
    );
    expect(bare.map(({ of, item }) => `${of}: ${item}`)).toEqual([]);
  });

  test("is shown by more than a command, which is parsed here and not run", () => {
    const unchecked = items.filter(
      ({ shown = [] }) =>
        shown.length > 0 && shown.every((link) => readLink(link).kind === "command"),
    );
    expect(unchecked.map(({ of, item }) => `${of}: ${item}`)).toEqual([]);
  });

  test("leads to what is there", async () => {
    const dead: string[] = [];
    for (const { of, item, where = [], shown = [] } of items) {
      for (const link of [...where, ...shown]) {
        const why = await broken(link);
        if (why) dead.push(`${of}: ${item}: ${link}: ${why}`);
      }
    }
    expect(dead).toEqual([]);
  });

  test("is said once", () => {
    const twice = items.map(({ item }) => item).filter((item, i, all) => all.indexOf(item) < i);
    expect(twice).toEqual([]);
  });
});

test("no item of the four documents is lost", () => {
  const counts = data.documents.map(({ name, parts }) => [
    name,
    parts.reduce((sum, { items: list }) => sum + list.length, 0),
  ]);
  expect(Object.fromEntries(counts)).toEqual(ITEMS);
});

test.each([
  ["src/gate/none.ts", "no such file"],
  ["src/gate/gate.ts", "without # or ~"],
  ["src/gate/gate.ts#gateless", "no such name"],
  ["docs/alarms.md#nothing", "no such name"],
  ["docs/alarms.md ~ not a word of it", "no such phrase"],
  ["test tests/gate.test.ts: a title that no test has", "no such test"],
  ["check 0 nothing", "no such check"],
  ["quiz 9 pass-rate", "no such question"],
  ["$ lockedroom runs --no-such-flag", "unknown option"],
  ["$ lockedroom gate --baseline runs/old", "required option"],
  ["$ lockedroom nothing", "no such command"],
])("a dead link is found: %s", async (link, why) => {
  expect(await broken(link)).toContain(why);
});
