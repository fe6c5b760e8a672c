import { describe, expect, test } from "vitest";
import type { JsonObject } from "../core/json.ts";
import { sampleOf } from "./sample.ts";
import { readTemplate } from "./template.ts";

const ITEM: JsonObject = {
  answer: "42",
  count: 3,
  nested: { list: [{ name: "a" }, { name: "b" }], none: null },
  "odd key": "k",
  sly: "{{sample.output_text}} {{item.answer}}",
};
const TOOLS = [{ type: "function", function: { name: "clock", arguments: "{}" } }];

function render(template: string, sample: string | JsonObject = "hello", item = ITEM) {
  return readTemplate(template).render({ item, sample: sampleOf(sample) });
}

describe("every documented form", () => {
  test.each([
    ["no variable", "no variable"],
    ["{{item.answer}}", "42"],
    ["Ref {{ item.answer }} got {{sample.output_text}}.", "Ref 42 got hello."],
    ["{{item.nested.list[1].name}}{{item.nested.list.0.name}}", "ba"],
    ['{{item["odd key"]}}', "k"],
    ["{{item.count}} {{item.nested.none}}", "3 null"],
    ["{{item.nested.list}}", '[{"name":"a"},{"name":"b"}]'],
    ["{{sample.choices[0].message.content}}", "hello"],
  ])("%s", (template, text) => {
    expect(render(template)).toBe(text);
  });

  test("output_json is the parsed output, and output_tools its calls", () => {
    expect(render("{{sample.output_json.a.b[0]}}", '{"a":{"b":[7]}}')).toBe("7");
    const called = { output_text: "", output_tools: TOOLS };
    expect(render("{{sample.output_tools[0].function.name}}", called)).toBe("clock");
  });

  test("values that are not text can be written as Python's json.dumps writes them", () => {
    const template = readTemplate("{{item.v}}", "python_json");
    const item = { v: { b: 1, a: [1, "x"] } };
    expect(template.render({ item, sample: sampleOf("") })).toBe('{"b": 1, "a": [1, "x"]}');
  });
});

describe("attacks", () => {
  test("what is put in is never read as a template, from an item or from a sample", () => {
    expect(render("{{item.sly}}|{{sample.output_text}}", "{{item.answer}}")).toBe(
      "{{sample.output_text}} {{item.answer}}|{{item.answer}}",
    );
  });

  test.each(["__proto__", "constructor", "constructor.name", "toString", "nested.list.length"])(
    "item.%s is missing: only members of the JSON are found",
    (path) => {
      expect(render(`{{item.${path}}}`)).toMatchObject({
        ...{ flag: "invalid_variable_error", blame: "item" },
        message: `the item has no {{item.${path}}}`,
      });
    },
  );

  test("a member named __proto__ of the JSON itself is found", () => {
    expect(render("{{item.__proto__.a}}", "", JSON.parse('{"__proto__":{"a":"own"}}'))).toBe("own");
  });

  test("an output that is not JSON, or lacks the member, is the sample's fault", () => {
    expect(render("{{sample.output_json.v}}", "not json")).toMatchObject({
      ...{ flag: "sample_parse_error", blame: "sample" },
    });
    expect(render("{{sample.output_json.v}}", "[1]")).toMatchObject({
      ...{ flag: "invalid_variable_error", blame: "sample" },
    });
  });

  test("a Unicode mess passes through unchanged", () => {
    const mess = "\u202e\u0000\ud800 é👩‍👩‍👧\u2028$& $1 {{";
    expect(render("<{{sample.output_text}}>", mess)).toBe(`<${mess}>`);
  });

  test("a value that is nested too deeply is a fault, not a crash", () => {
    const deep = JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`);
    expect(render("{{item.deep}}", "", { deep })).toMatchObject({ flag: "other_error" });
  });

  test.each([
    ["{{item.answer", "`{{` has no `}}`"],
    ["{{answer}}", "neither `item` nor `sample`"],
    ["{{items.answer}}", "neither `item` nor `sample`"],
    ["{{item}}", "names no field"],
    ["{{item.a b}}", "is not a path"],
    ["{{item.a[x]}}", "is not a path"],
    ["{{sample.output_txt}}", "is no field of a sample"],
    ["{{}}", "neither `item` nor `sample`"],
  ])("%s is refused when the grader is opened", (template, message) => {
    expect(() => readTemplate(template)).toThrow(message);
  });
});
