import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, type Json } from "../core/json.ts";
import { difference, patched, readPatch } from "./json-patch.ts";

const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })) as fc.Arbitrary<Json>;

test("the difference of two objects turns one into the other", () => {
  fc.assert(
    fc.property(objects, objects, (from, to) => {
      expect(canonicalJson(patched(from, difference(from, to)))).toBe(canonicalJson(to));
    }),
  );
});

test("says only what differs, and lists of objects by their place", () => {
  const from = { list: [{ a: 1 }, { a: 2, b: 3 }], same: [1, 2] };
  const to = { list: [{ a: 1 }, { a: 4 }], same: [1, 2], "a/b~c": null };
  expect(difference(from, to)).toEqual([
    { op: "add", path: "/a~1b~0c", value: null },
    { op: "remove", path: "/list/1/b" },
    { op: "replace", path: "/list/1/a", value: 4 },
  ]);
});

test.each([
  [{ op: "replace", path: "/list/3/a", value: 1 }, "nothing to replace at /list/3/a"],
  [{ op: "remove", path: "/no", value: 1 }, "nothing to remove at /no"],
  [{ op: "add", path: "/text/deeper", value: 1 }, "nothing to add at /text/deeper"],
])("refuses an operation that does not fit", (operation, message) => {
  const value = { list: [{ a: 1 }], text: "x" };
  expect(() => patched(value, readPatch([operation]))).toThrow(message);
});

test("refuses what is no patch", () => {
  expect(() => readPatch([{ op: "move", path: "/a" }])).toThrow("not a JSON Patch");
  expect(() => readPatch("x")).toThrow("not a JSON Patch");
});
