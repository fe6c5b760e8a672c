import { expect, test } from "vitest";
import { nearestName } from "./spelling.ts";

test("a misspelt, cut or unqualified name is recognised", () => {
  const names = ["dataset", "scorer", "slice", "language", "metadata.topic"];
  expect(nearestName("scorers", names)).toBe("scorer");
  expect(nearestName("dataest", names)).toBe("dataset");
  expect(nearestName("lang", names)).toBe("language");
  expect(nearestName("topic", names)).toBe("metadata.topic");
});

test("nothing is suggested for a word that is like none, or among none", () => {
  expect(nearestName("temperature", ["dataset", "scorer"])).toBeUndefined();
  expect(nearestName("x", [])).toBeUndefined();
});
