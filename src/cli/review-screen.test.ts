import { expect, test } from "vitest";
import { columns } from "../core/visible.ts";
import { keysFrom } from "./review-keys.ts";
import { ReviewScreen } from "./review-screen.ts";

const PAIR = {
  ...{ id: "t1", prompt: "What is\nthe answer? ".repeat(6), shownFirst: "b" as const },
  ...{ a: `the baseline's answer ${"long ".repeat(40)}`, b: "\u001b[31mthe candidate's" },
};

function shownAt(width: number | undefined): string {
  let text = "";
  const screen = new ReviewScreen({
    columns: width,
    write: (part) => {
      text += part;
    },
  });
  screen.pair(PAIR, { number: 3, of: 12 });
  return text;
}

test("a pair fits the terminal, whatever its width", () => {
  for (const width of [20, 40, 80, 132, undefined]) {
    const lines = shownAt(width).replace("\u001b[2J\u001b[H", "").split("\n");
    expect(Math.max(...lines.map(columns)), `${width}`).toBeLessThanOrEqual(width ?? 80);
  }
});

test("the answers stand in the seed's order, and nothing in them moves the cursor", () => {
  const text = shownAt(undefined);
  expect(text.indexOf("answer 1")).toBeLessThan(text.indexOf("the candidate's"));
  expect(text.indexOf("the candidate's")).toBeLessThan(text.indexOf("answer 2"));
  expect(text.indexOf("answer 2")).toBeLessThan(text.indexOf("the baseline's"));
  expect(text).toContain("Pair 3 of 12");
  expect(text).not.toContain("\u001b");
});

test("nothing but the answers themselves says whose they are", () => {
  const screens = (["a", "b"] as const).map((shownFirst) => {
    let text = "";
    const screen = new ReviewScreen({
      columns: undefined,
      write: (part) => {
        text += part;
      },
    });
    // The same two texts in the same places, once from the baseline first and once second.
    const [a, b] = shownFirst === "a" ? ["one", "two"] : ["two", "one"];
    screen.pair({ id: "t1", prompt: "p", a, b, shownFirst }, { number: 1, of: 1 });
    return text;
  });
  expect(screens[0]).toBe(screens[1]);
});

test("keys come one by one; arrows are no keys, line ends are nothing", async () => {
  async function* chunks() {
    yield "1\n2";
    yield new TextEncoder().encode("=S");
    yield "\u001b[A";
    yield "\u0003";
  }
  const keys: string[] = [];
  for await (const key of keysFrom(chunks())) keys.push(key);
  expect(keys).toEqual(["1", "2", "=", "s", "\u001b[a", "\u0003"]);
});

test("a terminal is in raw mode only while keys are read", async () => {
  const modes: boolean[] = [];
  const input = {
    isTTY: true,
    setRawMode: (raw: boolean) => modes.push(raw),
    async *[Symbol.asyncIterator]() {
      yield "12";
    },
  };
  for await (const key of keysFrom(input)) if (key === "1") break;
  expect(modes).toEqual([true, false]);
});
