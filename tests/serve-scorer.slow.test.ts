/** `serve --scorer` and `graders import` as commands. */

import { describe, expect, test } from "vitest";
import { EXIT, expectError, ROOT, Workspace } from "./cli.ts";

const room = new Workspace();
const GRADER = `${ROOT}examples/grader/grader.json`;
const TOKEN = "0123456789abcdef0123456789abcdef";
const serve = ["serve", "--port", "0", "--scorer"];

describe("serve --scorer", () => {
  test("prints the URL first, asks for the token, scores, and stops at a signal", async () => {
    const env = { LOCKEDROOM_SERVE_TOKEN: TOKEN };
    const { child, finished } = room.start([...serve, GRADER], { env });
    let said = "";
    await new Promise<void>((resolve) =>
      child.stdout?.on("data", (text: string) => {
        said += text;
        if (said.includes("Ctrl-C")) resolve();
      }),
    );
    const [url = ""] = said.split("\n");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/score$/);
    expect(said).not.toContain(TOKEN);
    const body = { sample: { output_text: "Final: 4" }, item: { expected_answer: 4 } };
    const post = (authorization: string) =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", authorization },
        body: JSON.stringify(body),
      });
    expect((await post("Bearer none")).status).toBe(401);
    const right = await post(`Bearer ${TOKEN}`);
    expect(await right.json()).toMatchObject({ score: 1, code: "full" });
    child.kill("SIGTERM");
    expect(await finished).toMatchObject({ code: EXIT.ok, stderr: "" });
  });

  test("for other machines only with a token, and a short one is refused", async () => {
    const open = [...serve, GRADER, "--host", "0.0.0.0"];
    expectError(await room.run(open), EXIT.usage, "LOCKEDROOM_SERVE_TOKEN");
    const env = { LOCKEDROOM_SERVE_TOKEN: "short" };
    expectError(await room.run([...serve, GRADER], { env }), EXIT.usage, "at least 16");
    const both = [...serve, GRADER, "--policy", "pi0"];
    expectError(await room.run(both), EXIT.usage, "not both");
  });
});

describe("graders import", () => {
  const input = "{{sample.output_text}}";
  const criterion = { type: "string_check", name: "Exact sum", operation: "eq", input };
  const EVAL = {
    data_source_config: {
      type: "custom",
      item_schema: { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] },
    },
    testing_criteria: [{ ...criterion, reference: "{{item.sum}}" }],
  };

  test("writes files that are graders, and checks the data", async () => {
    room.write("eval.json", JSON.stringify(EVAL));
    room.jsonl("items.jsonl", [{ item: { sum: 4 } }, { item: { sum: 5 } }]);
    const args = ["graders", "import", "eval.json", "--outdir"];
    const { stdout } = await room.run([...args, "one", "--dataset", "items.jsonl"]);
    expect(stdout).toContain("items.jsonl: 2 items agree");
    const graded = await room.run([
      ...["graders", "run", "--grader", "one/exact-sum.json", "--item", '{"sum":4}'],
      ...["--sample", "4"],
    ]);
    expect(JSON.parse(graded.stdout)).toMatchObject({ reward: 1 });
    room.jsonl("wrong.jsonl", [{ item: { sum: 4 } }, { item: { sum: "5" } }]);
    const wrong = await room.run([...args, "two", "--dataset", "wrong.jsonl"]);
    expectError(wrong, EXIT.data, "wrong.jsonl:2: item.sum");
    expectError(await room.run([...args, "one"]), EXIT.usage, "exists already");
  });
});
