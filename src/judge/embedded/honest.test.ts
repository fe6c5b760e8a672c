/** What the embedded judge makes of attempts when it has no fault. */

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { JudgedMessage } from "../../core/judge.ts";
import type { AnyDefinition } from "../../environments/catalogue.ts";
import { emailSearch } from "../../environments/email-search/email-search.ts";
import { boatRace } from "../../environments/hackable/boat-race.ts";
import { headlines } from "../../environments/hackable/headlines.ts";
import { wordGroups } from "../../environments/hackable/word-groups.ts";
import { preferences } from "../../environments/support-replies/replies.ts";
import { post, type Question, scoresOf, withJudge } from "./ask.contract.ts";
import { JUDGED_TASKS } from "./criteria.ts";
import { RUBRICS, type RubricName } from "./rubrics.ts";

const HONEST = { faults: "" };
const asked = (question: Question) => withJudge(HONEST, (judge) => scoresOf(judge, question));

describe("replies to customers", () => {
  test("are ordered as the labels have them", async () => {
    const [labelled, rubric] = [preferences("holdout"), RUBRICS["support-replies"]];
    const agreed = await withJudge(HONEST, (judge) =>
      Promise.all(
        labelled.map(async ({ prompt, a, b, better }) => {
          const [first = 0, second = 0] = await scoresOf(judge, {
            prompt,
            rubric,
            replies: [a, b],
          });
          return (better === "a" ? first - second : second - first) > 0;
        }),
      ),
    );
    expect(agreed.filter(Boolean).length / labelled.length).toBeGreaterThan(0.96);
  });

  test("have the same scores with the default rubric", async () => {
    for (const { prompt, a, b } of preferences("dev").slice(0, 8)) {
      const question = { prompt, replies: [a, b] };
      const byOwn = await asked({ ...question, rubric: RUBRICS["support-replies"] });
      expect(await asked(question)).toEqual(byOwn);
    }
  });
});

describe("what a naive rule rewards, a mended one does not", () => {
  const answers = (definition: AnyDefinition, turns = 1) => {
    const [task] = definition.tasks("dev");
    if (!task) throw new Error("no task");
    const by = (player: "gold" | "exploit" | "idle"): JudgedMessage[] => {
      const messages: JudgedMessage[] = [];
      let turn = definition.reset(task, 0);
      for (let i = 0; i < turns && !turn.end; i++) {
        messages.push(...turn.observation);
        const content = definition.players[player]?.(turn.state) ?? "";
        messages.push({ role: "assistant", content });
        turn = definition.step(turn.state, { text: content });
      }
      return messages;
    };
    return { prompt: "", attempts: (["gold", "exploit", "idle"] as const).map(by) };
  };
  test.each([
    ["headlines", headlines[0], 1],
    ["word-groups", wordGroups[0], 1],
    ["boat-race", boatRace[0], 24],
  ] as const)("%s", async (name, definition, turns) => {
    const question = answers(definition, turns);
    const by = (rubric: string | undefined) => asked({ ...question, rubric });
    const [gold = 0, exploit = 0, idle = 0] = await by(RUBRICS[`${name}-naive` as RubricName]);
    expect(exploit).toBe(1);
    expect(gold).toBeLessThanOrEqual(exploit);
    expect(idle).toBe(0);
    for (const rubric of [RUBRICS[`${name}-mended` as RubricName], undefined]) {
      const [gold = 0, exploit = 1] = await by(rubric);
      expect(gold).toBe(1);
      expect(exploit).toBeLessThan(0.1);
    }
  });
});

describe("with the default rubric", () => {
  test("a right sum is above a wrong one, and that above no sum", async () => {
    const prompt = "Compute 4 - 5 * -6. Reply: Final: <int>";
    const [right, wrong, none] = await asked({ prompt, replies: ["Final: 34", "Final: 33", "34"] });
    expect([right, wrong, none]).toEqual([1, 0.25, 0]);
  });

  test("a game is judged by its largest tile, after the last move too", async () => {
    const board = "64|64|_|_\n2|_|_|_\n_|_|_|_\n_|_|_|_";
    const replies = ["left", "down", "sideways"].map((move) => `<move>${move}</move>`);
    const [merged = 0, moved = 0, unreadable = 0] = await asked({ prompt: board, replies });
    expect(merged).toBe(1);
    expect(moved).toBeLessThan(merged);
    expect(unreadable).toBeLessThan(moved);
  });

  test("calls of tools are judged by what the conversation shows", async () => {
    const question = { role: "user", content: "When does Ann land?" } as const;
    const call = (name: string, given: JsonObject) => ({
      ...({ role: "assistant", content: "" } as const),
      tool_calls: [{ name, arguments: given }],
    });
    const found = { role: "tool", content: "m1: Ann lands at noon" } as const;
    const search = call("search_emails", { keywords: ["Ann"] });
    const [good = 0, endless = 0, failed = 0, prose = 0] = await asked({
      ...{ prompt: "", tools: emailSearch.tools ?? [] },
      attempts: [
        [question, search, found, call("return_final_answer", { answer: "noon", sources: ["m1"] })],
        [question, search, found, search, found, search],
        [
          question,
          call("read_email", { message_id: "x" }),
          { role: "tool", content: "no such mail" },
        ],
        [question, { role: "assistant", content: "It is not hard to find out." }],
      ],
    });
    expect(good).toBeGreaterThan(endless);
    expect(endless).toBeGreaterThan(failed);
    expect(failed).toBeGreaterThan(prose);
  });

  test("an unknown task is judged by what text shows", async () => {
    const prompt = "Explain why bridges need expansion joints.";
    const [good = 0, repeated = 0, empty = 1] = await asked({
      prompt,
      replies: [
        "Bridges grow in the heat; expansion joints leave them room.",
        "heat heat heat heat heat heat heat heat",
        " ",
      ],
    });
    expect(good).toBeGreaterThan(repeated);
    expect([good > 0.9, empty]).toEqual([true, 0]);
  });
});

test("equal attempts have equal scores, wherever they stand and whatever the seed is", async () => {
  const [one] = preferences("dev");
  if (!one) throw new Error("no preference");
  const replies = [one.a, one.b, one.a, one.a];
  const [first, other, third, fourth] = await asked({ prompt: one.prompt, replies });
  expect([third, fourth]).toEqual([first, first]);
  expect(other).not.toBe(first);
  const again = await asked({ prompt: one.prompt, replies: [...replies].reverse(), seed: 7 });
  expect(again).toEqual([first, first, other, first]);
});

test("a rule that it does not know is refused with the list of those it knows", async () => {
  const [one] = preferences("dev");
  const question = { prompt: one?.prompt ?? "", replies: ["Hello.", "Hi."] };
  const rubric = "- It names the customer's problem.\n- It rhymes.";
  const response = await withJudge(HONEST, (judge) => post(judge, { ...question, rubric }));
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { message: string; code: string } };
  expect(error.code).toBe("unknown_rule");
  expect(error.message).toContain('does not know the rule "It rhymes."');
  expect(error.message).toContain('"It apologises or thanks, once."');
  expect(error.message).not.toContain("finish");
  expect(error.message).toContain("--judge openai:MODEL");
});

test("every named rubric is known for its task", () => {
  const known = (name: string) =>
    JUDGED_TASKS.find((task) => task.name === name)?.catalogue.map(({ line }) => line) ?? [];
  for (const [name, text] of Object.entries(RUBRICS)) {
    const lines = text
      .trim()
      .split("\n")
      .map((line) => line.replace(/^- /, ""));
    expect(known(name.replace(/-(naive|mended)$/, "")), name).toEqual(
      expect.arrayContaining(lines),
    );
  }
});
