import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fingerprint, SequenceFingerprint, sha256 } from "./fingerprint.ts";
import { canonicalJson } from "./json.ts";

describe("canonicalJson", () => {
  test("sorts keys at every level and writes no white space", () => {
    expect(canonicalJson({ b: [1, { z: null, a: "x" }], a: true })).toBe(
      '{"a":true,"b":[1,{"a":"x","z":null}]}',
    );
  });

  test("is JSON that parses back to the same value, whatever the key order", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  test.each([
    [{ a: { b: Number.NaN } }, "a.b is NaN"],
    [[1, Number.POSITIVE_INFINITY], "[1] is Infinity"],
    [{ f: () => 1 }, "f is a function"],
    [10n, "the value is a bigint"],
    [[undefined], "[0] is undefined"],
  ])("refuses what JSON would quietly change, and says where", (value, message) => {
    expect(() => canonicalJson(value)).toThrow(message);
  });

  test("refuses a cycle in place of overflowing the stack", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(() => canonicalJson(cycle)).toThrow("nested deeper than 1000");
  });

  test("keeps a member called __proto__", () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });
});

describe("fingerprints", () => {
  test("agree with sha256sum", () => {
    expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  test("do not depend on the order of keys", () => {
    expect(fingerprint({ a: 1, b: 2 })).toBe(fingerprint({ b: 2, a: 1 }));
    expect(fingerprint({ a: 1 })).not.toBe(fingerprint({ a: "1" }));
  });

  test("of a sequence equal the fingerprint of its lines, however many", () => {
    for (const length of [0, 1, 511, 512, 513, 2000]) {
      const lines = Array.from({ length }, (_, i) => `"${i}"`);
      const sequence = new SequenceFingerprint();
      for (const line of lines) sequence.add(line);
      expect(sequence.digest()).toBe(sha256(lines.map((line) => `${line}\n`).join("")));
    }
  });
});
