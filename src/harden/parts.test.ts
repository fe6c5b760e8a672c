import { expect, it } from "vitest";
import { minimal, minimalText } from "./minimise.ts";
import { regexEdits } from "./mutants/regex-edits.ts";
import { couldState } from "./readings.ts";
import { targetOf } from "./targets.ts";
import { applyEdits } from "./text-edits.ts";

const target = (expected_answer: string | number) => {
  const found = targetOf({ id: "a", prompt: "", expected_answer });
  if (!found) throw new Error("no answer");
  return found;
};

it.each(["60", "Final: ٦٠", "6\u200b0", "sixty", "6O", "120/2", "60,5", "−60", "0x3c", "60.000"])(
  "%s could be read as 60",
  (text) => expect(couldState(text, target(60))).toBe(true),
);

it.each(["", "Final: 61", "603", "6 1", "160", "60\u200b3", "NaN", "1e400"])(
  "%s cannot be read as 60",
  (text) => expect(couldState(text, target(60))).toBe(false),
);

it("a text answer may be written in any case, and not in part", () => {
  expect(couldState("it is PARIS!", target("Paris"))).toBe(true);
  expect(couldState("Par is it", target("Paris"))).toBe(true);
  expect(couldState("Pari", target("Paris"))).toBe(false);
});

it("minimising keeps exactly what is needed, and the payload", async () => {
  const needed = async (part: readonly string[]) => ["c", "q"].every((one) => part.includes(one));
  expect(await minimal([..."abcdefghijklmnopqrstuvwxyz"], needed)).toEqual(["c", "q"]);
  const short = async (text: string) => text.startsWith("x");
  expect(await minimalText("xyz 60/7 and more", short, "60/7")).toBe("x60/7");
});

it("a pattern is changed at its anchors, quantifiers and classes, and nowhere in an escape", () => {
  expect(regexEdits("^a+\\+[1-9]?$").map(([, edited]) => edited)).toEqual([
    ...["a+\\+[1-9]?$", "^a*\\+[1-9]?$", "^a+\\+[^]?$", "^a+\\+[0-9]?$"],
    ...["^a+\\+[1-9]$", "^a+\\+[1-9]?"],
  ]);
});

it("edits are applied from left to right, whatever their order", () => {
  const edits = [
    { at: 4, remove: 1, insert: "E" },
    { at: 0, remove: 0, insert: ">" },
  ];
  expect(applyEdits("abcdef", edits)).toBe(">abcdEf");
});
