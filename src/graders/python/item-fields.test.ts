import { expect, test } from "vitest";
import { itemFieldsIn } from "./item-fields.ts";

const def = (body: string) => `def grade(sample, item):\n    return ${body}`;

test.each([
  [def('item["answer"] + item.get("b", 0) + item["answer"]'), ["answer", "b"]],
  [def("len(f\"{item['a']}\")"), ["a"]],
  ["def grade(s: dict, row: dict) -> float:\n    return row['x']", ["x"]],
  [def("1.0"), []],
])("the fields of %j are %j", (source, fields) => {
  expect(itemFieldsIn(source)).toEqual(fields);
});

test.each([
  ["passes it on", def('check(item) + item["a"]')],
  ["takes a name that is computed", def('item["a" + "b"] if x else item[key]')],
  ["goes over all", def("len(item)")],
  ["reads variables by name", def('locals()["item"]["a"]')],
  ["is defined twice", `${def("1")}\n${def('item["a"]')}`],
  ["is no plain function", "grade = lambda sample, item: 1"],
])("a source that %s shows no fields", (_, source) => {
  expect(itemFieldsIn(source)).toBeUndefined();
});
