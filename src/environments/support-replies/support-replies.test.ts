import { expect, test } from "vitest";
import { SPLITS } from "../../core/environment.ts";
import { preferences } from "./replies.ts";
import { supportReplies } from "./support-replies.ts";

test("a reply has no reward, which is not a reward of 0", () => {
  const [task] = supportReplies.tasks("dev");
  if (!task) throw new Error("no task");
  const { state } = supportReplies.reset(task, 0);
  const turn = supportReplies.step(state, { text: "We are sorry." });
  expect([turn.reward, turn.end?.code, turn.metrics?.words]).toEqual([null, "replied", 3]);
});

test("preferences are split, and neither place nor length gives the label away", () => {
  const all = SPLITS.flatMap((split) => preferences(split));
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  const share = (is: (one: (typeof all)[number]) => boolean) => all.filter(is).length / all.length;
  expect(Math.abs(share(({ better }) => better === "a") - 0.5)).toBeLessThan(0.08);
  const longer = share((one) => one.a.length > one.b.length === (one.better === "a"));
  expect(longer).toBeGreaterThan(0.25);
  expect(longer).toBeLessThan(0.6);
});
