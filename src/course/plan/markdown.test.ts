import { expect, test } from "vitest";
import { commandsNamed, images, listItems, sections, targets } from "./markdown.ts";

test("a section reaches to the next heading of its rank", () => {
  const found = sections("# A\na\n## B\nb\n## C\nc\n# D\nd");
  expect(found.map(({ heading }) => heading)).toEqual(["A", "B", "C", "D"]);
  expect(found[0]?.body).toContain("c");
  expect(found[1]?.body).toBe("b");
});

test("targets are local links and quoted paths; pictures apart", () => {
  const text = '[a](../../runs/a#top) ![c](c.svg "t") `runs/b` [w](https://example.org/runs/x)';
  expect(targets(text)).toEqual(["../../runs/a", "c.svg", "runs/b"]);
  expect(images(text)).toEqual(["c.svg"]);
});

test("commands are named once, in either spelling", () => {
  const text = "lockedroom eval --x\n./lockedroom inspect_run\nlockedroom eval";
  expect(commandsNamed(text)).toEqual(["eval", "inspect-run"]);
});

test("list items", () => expect(listItems("- a\n* b\n1. c\nd\n- \n")).toBe(3));
