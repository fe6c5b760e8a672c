/** Example tests of the verifier. `npm test` runs every tests/*.test.ts. */

import assert from "node:assert/strict";
import test from "node:test";
import { score } from "../scoring.ts";

const example = { id: "t", prompt: "Compute 40 + 2. Reply: Final: <int>", expected_answer: 42 };

test("a correct answer gets the reward", () => {
  assert.equal(score(example, "Final: 42").reward, 1);
});

test("a wrong number gets wrong_answer", () => {
  assert.equal(score(example, "Final: 41").code, "wrong_answer");
});
