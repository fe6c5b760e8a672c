import { expect, test } from "vitest";
import { sweptSetting, sweptValues } from "./swept-values.ts";

test("values are numbers, words or lists, and each is one value", () => {
  expect(sweptValues("kl.coefficient=0,0.03")).toEqual({
    over: "kl.coefficient",
    values: [0, 0.03],
  });
  expect(sweptValues("kl.mode=fixed,none").values).toEqual(["fixed", "none"]);
  expect(sweptValues("weights=[1,0],[1,0.5]")).toEqual({
    over: "weights",
    values: [
      [1, 0],
      [1, 0.5],
    ],
  });
});

test("a setting that only the sweep gives is complete with its first value", () => {
  expect(sweptSetting(sweptValues("cost.limit=0.2,0.4"))).toEqual({ cost: { limit: 0.2 } });
});

test.each(["weights", "weights=", "=1,2", "steps=1,1", "weights=[1,2],[1,2]"])(
  "%s is refused",
  (text) => {
    expect(() => sweptValues(text)).toThrow(/expected a setting and different values/);
  },
);
