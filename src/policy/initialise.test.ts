import { expect, test } from "vitest";
import { place } from "../graph/parameters.ts";
import { type Architecture, parametersOf } from "./architecture.ts";
import { initialise, SIZES } from "./initialise.ts";
import { hashOfWeights } from "./safetensors.ts";

const nano: Architecture = { ...SIZES.nano, vocabulary: 50 };

function named(architecture: Architecture, parameters: Float32Array): Map<string, Float32Array> {
  const { list } = place(parametersOf(architecture));
  return new Map(
    list.map(({ name, offset, size }) => [name, parameters.subarray(offset, offset + size)]),
  );
}

test("the sizes are what they are called", () => {
  const count = (size: keyof typeof SIZES) =>
    place(parametersOf({ ...SIZES[size], vocabulary: 64 })).total;
  expect(count("nano")).toBe(101_696);
  expect(count("micro")).toBe(799_872);
  expect(count("small")).toBe(4_762_880);
});

test("a seed gives the same bytes everywhere and always", () => {
  // Fixed: a change here would change every run that begins from scratch.
  expect(hashOfWeights(initialise(nano, 7))).toBe(
    "e57651029d5107361a5a1835c973ed586e3895a81ae70f050a4f8709658164e6",
  );
  expect(initialise(nano, 8)).not.toEqual(initialise(nano, 7));
});

test("norms are 1, biases and the value head 0, matrices of the deviation that they should have", () => {
  const architecture = { ...nano, biases: true, valueHead: true };
  for (const [name, values] of named(architecture, initialise(architecture, 1))) {
    if (/norm/.test(name)) expect(new Set(values), name).toEqual(new Set([1]));
    else if (/bias|value_head/.test(name)) expect(new Set(values), name).toEqual(new Set([0]));
    else {
      const expected = /o_proj|down_proj/.test(name) ? 0.01 : 0.02;
      const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
      const deviation = Math.sqrt(values.reduce((sum, x) => sum + x * x, 0) / values.length);
      expect(Math.abs(mean), name).toBeLessThan(expected / 10);
      expect(Math.abs(deviation / expected - 1), name).toBeLessThan(0.06);
    }
  }
});

test("a parameter does not depend on the others", () => {
  const [small, large] = [nano, { ...nano, vocabulary: 60, valueHead: true }];
  const [a, b] = [named(small, initialise(small, 3)), named(large, initialise(large, 3))];
  for (const [name, values] of a) {
    if (name !== "model.embed_tokens.weight") expect(b.get(name), name).toEqual(values);
  }
});
