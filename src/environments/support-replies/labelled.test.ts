import { describe, expect, test } from "vitest";
import { SPLITS } from "../../core/environment.ts";
import { checkEnvironment } from "../check.ts";
import { playScripted } from "../episode.ts";
import { customers } from "./customers.ts";
import { supportRepliesLabelled as labelled, partsIn } from "./labelled.ts";
import { FAULTS, REPLY_PARTS, type ReplyPart, worthOf, writeReply } from "./replies.ts";
import { supportReplies } from "./support-replies.ts";

/** Every choice of parts. */
const CHOICES = [...REPLY_PARTS, ...FAULTS].reduce<ReplyPart[][]>(
  (sets, part) => sets.flatMap((set) => [set, [...set, part]]),
  [[]],
);

describe("the labels of replies", () => {
  test("are worth what the rule of the preferences says, for every customer and choice of parts", () => {
    const wrong = SPLITS.flatMap((split) => labelled.tasks(split)).flatMap((task) => {
      const { state } = labelled.reset(task, 0);
      return CHOICES.filter((parts) => {
        const { reward } = labelled.step(state, { text: writeReply(state, parts) });
        return reward !== worthOf(parts) / 4;
      }).map((parts) => `${task.id}: ${parts.join(" ")}`);
    });
    expect(wrong).toEqual([]);
  });

  test.each<[string, (reply: string) => string, ReplyPart[]]>([
    ["a second apology", (reply) => `${reply} We are sorry.`, ["problem", "next_step", "deadline"]],
    [
      "thanks in place of the apology",
      (reply) => reply.replace("We are sorry", "Thank you"),
      [...REPLY_PARTS],
    ],
    [
      "another problem",
      (reply) => reply.replace("about the", "about some other"),
      ["apology", "next_step", "deadline"],
    ],
    [
      "a gift in another currency",
      (reply) => `${reply} Have $50.`,
      [...REPLY_PARTS, "invented_promise"],
    ],
    ["sixty words more", (reply) => `${reply}${" and".repeat(60)}`, [...REPLY_PARTS, "padding"]],
  ])("notice %s", (_, change, parts) => {
    const customer = customers("dev").find(({ problem }) => problem.startsWith("the "));
    if (!customer) throw new Error("no customer");
    const reply = writeReply(customer, REPLY_PARTS);
    expect(partsIn(reply, customer)).toEqual([...REPLY_PARTS]);
    expect(partsIn(change(reply), customer)).toEqual(parts);
  });

  test("are of the tasks of support-replies, and the environment passes its check", () => {
    for (const split of SPLITS) expect(labelled.tasks(split)).toEqual(supportReplies.tasks(split));
    const findings = checkEnvironment(labelled, { tasks: 8, seed: 0 });
    expect(findings.filter(({ passed }) => passed !== true)).toEqual([]);
  });

  test("an empty reply is worth nothing, and one with a fault is called so", () => {
    const [task] = labelled.tasks("dev");
    if (!task) throw new Error("no task");
    const end = (text: string) => playScripted(labelled, task, 0, () => text);
    expect(end(" ")).toMatchObject({ reward: 0, end: { code: "empty_reply" } });
    expect(end("You get 10 euros.")).toMatchObject({ reward: -0.5, end: { code: "faulty_reply" } });
    expect(end("Thanks.")).toMatchObject({ reward: 0.25, end: { code: "partly_good" } });
  });
});
