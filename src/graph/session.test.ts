/** Running a graph: names of one's own, memory that is used again, and what must be fed. */

import { expect, test } from "vitest";
import { add, mul } from "./ops/elementwise.ts";
import { Session } from "./session.ts";
import { input } from "./tensor.ts";

test("names that the writer would give itself are free for inputs and results", async () => {
  const [v0, c1] = [input("v0", [2]), input("c1", [2])];
  const session = await Session.create({ v1: add(mul(v0, c1), 3), v2: mul(v0, 2) });
  const run = await session.run({ v0: Float32Array.of(1, 2), c1: Float32Array.of(5, 7) });
  expect(run).toEqual({ v1: Float32Array.of(8, 17), v2: Float32Array.of(2, 4) });
  await session.close();
});

test("one name for two tensors is refused, and so is an input that was not fed", async () => {
  const twice = { x: add(input("x", [2]), 1) };
  await expect(Session.create(twice)).rejects.toThrow(/two tensors are called "x"/);
  const session = await Session.create({ y: add(input("x", [2]), 1) });
  await expect(session.run({})).rejects.toThrow(/"x" is missing/);
  expect(() => session.repeatedly({}, session.results())).toThrow(/"x" is missing/);
  await session.close();
});

test("run repeatedly, it reads and writes memory where it is", async () => {
  const session = await Session.create({ y: add(input("x", [2]), 1) });
  const x = Float32Array.of(1, 2);
  const results = session.results();
  const run = session.repeatedly({ x }, results);
  for (const first of [10, 20, 30]) {
    x[0] = first;
    await run();
    expect(results.y?.data).toEqual(Float32Array.of(first + 1, 3));
  }
  await session.close();
});
