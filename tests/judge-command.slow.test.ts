/** `judge serve` and `judge cost` at the terminal. */

import { once } from "node:events";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import { type Question, scoresOf } from "../src/judge/embedded/ask.contract.ts";
import { EXIT, Workspace } from "./cli.ts";
import { tooWide } from "./width.ts";

const workspace = new Workspace();

test("judge serve prints its URL first, judges with its faults, and stops when asked to", async () => {
  const { child, finished } = workspace.start([
    ...["judge", "serve", "--port", "0", "--faults", "position=0.5"],
  ]);
  let shown = "";
  child.stdout?.on("data", (text: string) => {
    shown += text;
  });
  while (!shown.includes("\n")) await once(child.stdout as Readable, "data");
  const [url = ""] = shown.split("\n");
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  const question: Question = { prompt: "Say something.", replies: ["Something.", "Something."] };
  const [first = 0, second = 0] = await scoresOf({ url, close: async () => {} }, question);
  expect(first).toBeGreaterThan(second);
  child.kill("SIGINT");
  const { code, stdout } = await finished;
  expect([code, tooWide(stdout)]).toEqual([EXIT.ok, []]);
  expect(stdout).toContain("Faults: position=0.5");
  expect(stdout).toContain(`OPENAI_BASE_URL=${url}`);
});

test("judge serve refuses a fault that it does not have, before it listens", async () => {
  const { code, stdout, stderr } = await workspace.run(["judge", "serve", "--faults", "lazy"]);
  expect([code, stdout]).toEqual([EXIT.usage, ""]);
  expect(stderr).toContain("has no fault lazy");
});

test("judge cost marks where each number is from, and takes others", async () => {
  const text = await workspace.run([
    "judge",
    "cost",
    "--example",
    "email-agent",
    "--attempts",
    "6",
  ]);
  expect([text.code, text.stderr, tooWide(text.stdout)]).toEqual([EXIT.ok, "", []]);
  expect(text.stdout).toMatch(/ 800 .* from the source\n/);
  expect(text.stdout).toMatch(/ 6 {2}attempts in a group .* given\n/);
  expect(text.stdout).toMatch(/\$\d+\.\d\d {2}in total\n/);
  const json = await workspace.run(["judge", "cost", "--example", "auto-rl", "--json"]);
  const { inputs, cost } = JSON.parse(json.stdout) as {
    inputs: Record<string, { value: number; from: string }>;
    cost: { steps: number };
  };
  expect(cost.steps).toBe(38);
  expect(inputs.epochs).toMatchObject({ value: 3, from: "source" });
  expect(inputs.gpu_price).toMatchObject({ from: "assumed" });
  const wrong = await workspace.run(["judge", "cost", "--judge-cached-share", "2"]);
  expect([wrong.code, wrong.stdout]).toEqual([EXIT.usage, ""]);
  expect(wrong.stderr).toContain("a number from 0 to 1");
});
