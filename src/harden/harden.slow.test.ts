import { describe, expect, it } from "vitest";
import { kindsOf } from "./finds.ts";
import { type HardenOptions, harden } from "./harden.ts";
import {
  ANSWERS,
  EXAMPLES_FILE,
  HELPERS,
  HOLES,
  HONEST,
  planted,
  RULE,
  RULE_CALL,
  rowsFile,
} from "./planted.contract.ts";

const attack = (scorer: string, more: Partial<HardenOptions> = {}) =>
  harden({ scorer, dataset: EXAMPLES_FILE, inputs: 3000, timeoutMs: 200, ...more });

describe("a planted hole", () => {
  it.each(Object.entries(HOLES))("is found by the class %s", async (name, right) => {
    const { finds } = await attack(planted(name, right, HELPERS[name]));
    expect(finds.flatMap(kindsOf).map(({ attack_class }) => attack_class)).toContain(name);
  });

  it("is found only by following the code, where no known trick reaches it", async () => {
    const deep = [..."Fi?!z"].map((c, i) => `text.charCodeAt(${i}) === ${c.charCodeAt(0)}`);
    const nested = deep.reduceRight((inner, test) => `if (${test}) { ${inner} }`, "return true;");
    const more = `function door(text: string) { ${nested} return false; }`;
    const file = planted("door", `door(text) || ${HONEST}`, more);
    const { finds, search } = await attack(file, { inputs: 60_000 });
    expect(new Set(finds.map((find) => `${find.attack_class} ${find.completion}`))).toEqual(
      new Set(["coverage_search Fi?!z"]),
    );
    expect(search.code_reached).toBe(1);
  });
});

it("of text answers has no finds, and one that searches for them has", async () => {
  const dataset = rowsFile(
    "capitals.jsonl",
    ["Paris", "Rome", "Oslo", "Lima", "Cairo"].map((expected_answer, i) => ({
      ...{ id: `c${i}`, prompt: "Which capital?", expected_answer },
    })),
  );
  const honest = planted("capitals", 'text === "Answer: " + expected');
  expect((await attack(honest, { dataset })).finds).toEqual([]);
  const weak = planted("searches", "text.toLowerCase().includes(String(expected).toLowerCase())");
  const { finds } = await attack(weak, { dataset });
  const classes = finds.flatMap(kindsOf).map((kind) => kind.attack_class);
  expect(classes).toEqual(expect.arrayContaining(["wrong_answer", "several_finals", "comments"]));
});

it("makes a counter-example as small as it can be", async () => {
  const right = 'text.startsWith("Final: " + expected)';
  const { finds } = await attack(planted("prefix", `text.length < 90 && ${right}`));
  const injected = finds.find((find) =>
    kindsOf(find).some((kind) => kind.attack_class === "fractions"),
  );
  expect(injected?.completion).toMatch(/^Final: -?\d+\/7$/);
  const several = planted("anywhere", 'text.includes("<" + expected + ">")');
  const report = await attack(several, { forms: ["I say <{}>."] });
  const hedge = report.finds.find((find) =>
    kindsOf(find).some((kind) => kind.attack_class === "several_finals"),
  );
  expect(hedge?.completion).toMatch(/^<-?\d+><-?\d+>$/);
});

it("mutants are accepted by name or by a comment on their line", async () => {
  const few = rowsFile(
    "few.jsonl",
    ANSWERS.map((answer, i) => ({
      id: `e${i}`,
      completion: `Final: ${answer}`,
      expected_reward: 1,
    })),
  );
  const scorer = planted("rules", RULE_CALL, RULE);
  const golden = [few];
  const { mutation } = await attack(scorer, { golden });
  const first = mutation?.mutants.find(({ outcome }) => outcome === "survived");
  const named = (await attack(scorer, { golden, accept: [first?.mutant ?? ""] })).mutation;
  expect(named).toMatchObject({ accepted: 1, survived: (mutation?.survived ?? 0) - 1 });
  const commented = planted(
    "commented",
    RULE_CALL,
    RULE.replace("$/.exec(text);", "$/.exec(text); // harden: accept"),
  );
  const left = (await attack(commented, { golden })).mutation?.mutants ?? [];
  const line = left.filter(({ before }) => before.includes("harden: accept"));
  expect(new Set(line.map(({ outcome }) => outcome))).toEqual(new Set(["accepted", "killed"]));
});
