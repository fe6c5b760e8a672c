/** How an environment is answered, as `env show` and `env play` say it. */

import { expect, test } from "vitest";
import { EMBEDDED } from "../environments/catalogue.ts";
import { openEnvironment } from "../environments/open.ts";
import { exampleAnswer, toolText } from "./environment-text.ts";

test("an example answer is one that the environment reads", async () => {
  const { definition } = await openEnvironment("twenty48");
  expect(exampleAnswer(definition)).toMatch(/^<move>(left|right|up|down)<\/move>$/);
});

test.each([...EMBEDDED.keys()])("%s has one unless it has no gold player", async (name) => {
  const { definition } = await openEnvironment(name);
  const found = exampleAnswer(definition);
  expect(found === undefined).toBe(definition.players.gold === undefined);
  expect(exampleAnswer({ ...definition, players: { idle: () => "" } })).toBeUndefined();
});

test("a tool is shown with its arguments, those that may be left out with a question mark", () => {
  const tool = {
    ...{ name: "search", description: "Finds mails." },
    parameters: { type: "object", properties: { words: {}, before: {} }, required: ["words"] },
  };
  expect(toolText(tool)).toBe("search(words, before?): Finds mails.");
  expect(toolText({ ...tool, parameters: {} })).toBe("search(): Finds mails.");
});
