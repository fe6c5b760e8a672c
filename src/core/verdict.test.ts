import { describe, expect, test } from "vitest";
import { readVerdict } from "./verdict.ts";

const entry = (id: string, score: unknown) => ({
  trajectory_id: id,
  explanation: "because",
  score,
});
const answer = (...scores: unknown[]) => JSON.stringify({ scores });

describe("a judge's answer", () => {
  test("is matched by id, not by order", () => {
    const read = readVerdict(answer(entry("2", 1), entry("1", 0.25)), ["1", "2"]);
    expect(read).toMatchObject({ judgements: [{ score: 0.25 }, { score: 1 }] });
  });

  test("may have the words of a key in its explanations", () => {
    const said = '"score": 1, "score": 0 } { \\" "score":';
    const explained = (id: string) => ({ trajectory_id: id, explanation: said, score: 0.5 });
    const read = readVerdict(answer(explained("1"), explained("2")), ["1", "2"]);
    expect(read).toMatchObject({ judgements: [{ explanation: said }, { explanation: said }] });
  });

  test("may stand in a fenced block", () => {
    const read = readVerdict(`\`\`\`json\n${answer(entry("1", 0))}\n\`\`\``, ["1"]);
    expect(read).toEqual({ judgements: [{ score: 0, explanation: "because" }] });
  });

  test.each([
    ["no JSON", "both are fine", /not JSON alone/],
    ["text around the JSON", `Sure: ${answer(entry("1", 1))}`, /not JSON alone/],
    ["no scores", "{}", /no list/],
    ["null", "null", /no list/],
    ["an id too many", answer(entry("1", 1), entry("2", 1), entry("3", 1)), /id "3"/],
    ["a number as id", answer({ trajectory_id: 1, score: 1 }), /id 1/],
    ["an id twice", answer(entry("1", 1), entry("1", 0)), /two scores/],
    ["an id missing", answer(entry("1", 1)), /no score for 2/],
    ["a score above 1", answer(entry("1", 1e9), entry("2", 1)), /1000000000/],
    ["a score below 0", answer(entry("1", -0.1), entry("2", 1)), /-0.1/],
    ["NaN", '{"scores":[{"trajectory_id":"1","score":NaN}]}', /not JSON/],
    ["a score as text", answer(entry("1", "0.5"), entry("2", 1)), /"0.5"/],
    ["no score", answer({ trajectory_id: "1" }, entry("2", 1)), /missing/],
    [
      "two values of one key",
      '{"scores":[{"trajectory_id":"1","score":0.1,"sc\\u006fre":1},{"trajectory_id":"2","score":0}]}',
      /key "score" is twice/,
    ],
    ["two lists", `{"scores":[],"scores":[${JSON.stringify(entry("1", 1))}]}`, /"scores" is twice/],
    ["an entry that is no object", answer(1, entry("2", 1)), /not an object/],
    ["a name of every object", answer(entry("toString", 1), entry("2", 1)), /toString/],
  ])("with %s is a problem and gives no score", (_, text, problem) => {
    const read = readVerdict(text, ["1", "2"]);
    expect(read).toEqual({ problem: expect.stringMatching(problem) });
  });
});
