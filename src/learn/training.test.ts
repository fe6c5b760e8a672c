import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { train } from "./train.ts";

test.each([
  [{ engine: "constructor" }, 'there is no engine "constructor"', "Choose one of local."],
  [{ environment: "maze" }, 'there is no environment "maze"', "Choose one of single_turn."],
])("%o is refused before anything is written", async (wrong, message, hint) => {
  const training = train({
    ...{ algorithm: "sft", dataset: "missing.jsonl", outdir: "unset", settings: { steps: 1 } },
    ...{ init: "scratch", size: "nano", threads: 1, saveEvery: 1, ...wrong },
  });
  await expect(training).rejects.toMatchObject({ kind: "usage", message, hint });
  expect(existsSync("unset")).toBe(false);
});
