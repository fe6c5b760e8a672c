import { expect, test } from "vitest";
import { Queue } from "./queue.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

test("one at a time, in order, whatever becomes of each", async () => {
  const queue = new Queue();
  const seen: string[] = [];
  const work = (name: string, ticks: number) => async () => {
    seen.push(`${name} begins`);
    for (let i = 0; i < ticks; i++) await tick();
    seen.push(`${name} ends`);
    if (name === "b") throw new Error("b failed");
    return name;
  };
  const done = [work("a", 5), work("b", 3), work("c", 0)].map((each) => queue.add(each));
  expect(await Promise.allSettled(done)).toMatchObject([
    { value: "a" },
    { reason: { message: "b failed" } },
    { value: "c" },
  ]);
  expect(seen).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test("idle waits for all; one too many is refused at once, and places become free again", async () => {
  const queue = new Queue();
  let finished = 0;
  const add = () =>
    queue.add(async () => {
      await tick();
      finished++;
    });
  for (let i = 0; i < 65; i++) void add();
  expect(add).toThrow(/64 requests are waiting/);
  await queue.idle();
  expect(finished).toBe(65);
  await add();
});
