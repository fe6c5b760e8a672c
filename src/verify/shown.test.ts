/** Where a verification is shown, and when it no longer counts. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { train } from "../learn/train.ts";
import { evaluate } from "../loops/eval.ts";
import { trainingReport } from "../report/training/report.ts";
import { listRuns } from "../runs/catalogue.ts";
import { readVerification, verificationLine, writeVerification } from "../runs/verification.ts";
import { verify } from "./verify.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-shown-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(root, ...names);

beforeAll(async () => {
  await evaluate({
    dataset: [{ id: "a", prompt: "Compute 1 + 1.", expected_answer: 2 }],
    completions: [{ id: "a", completion: "Final: 2" }],
    outdir: at("eval"),
  });
});

async function lineInList(): Promise<string | undefined> {
  for await (const { dir, verification } of listRuns(root))
    if (dir === at("eval")) return verification;
  return undefined;
}

test("the list of runs shows it until the run changes, and ignores what is none", async () => {
  expect(await lineInList()).toBeUndefined();
  await writeVerification(at("eval"), await verify({ run: at("eval"), only: ["score"] }));
  expect(await lineInList()).toMatch(/^verified: rows scored again 1 of 1 \(by lockedroom /);
  const summary = at("eval", "summary.json");
  const text = readFileSync(summary, "utf8");
  writeFileSync(summary, `${text} `);
  expect(await lineInList()).toMatch(/^verification out of date/);
  writeFileSync(summary, text);
  writeFileSync(at("eval", "verification.json"), "{");
  expect(await lineInList()).toBeUndefined();
});

test("what is not verified never reads as verified", async () => {
  const found = await verify({ run: at("eval"), only: ["score", "sample", "data"] });
  expect(found.result).toBe("not_verified");
  const line = verificationLine({ verification: found, fresh: true });
  expect(line).toMatch(/^not verified: rows scored again 1 of 1, sampled again: not possible/);
});

test("the report of a training run shows it", async () => {
  writeFileSync(
    at("texts.jsonl"),
    ["1", "2"].map((n) => `${JSON.stringify({ prompt: n, completion: n })}\n`).join(""),
  );
  await train({
    ...{ algorithm: "sft", dataset: at("texts.jsonl"), init: "scratch", size: "nano" },
    ...{ settings: { steps: 2, batch: 2 }, outdir: at("sft"), threads: 1, saveEvery: 100 },
  });
  const before = (await trainingReport({ runs: [at("sft")] })).html;
  expect(before).not.toContain("trained again");
  const found = await verify({ run: at("sft"), train: true });
  expect(found.parts[1]).toMatchObject({ status: "equal", repeated: 2, of: 2 });
  await writeVerification(at("sft"), found);
  const { html } = await trainingReport({ runs: [at("sft")] });
  expect(html).toContain("<p>Verified: steps trained again 2 of 2 (by lockedroom ");
  expect((await readVerification(at("sft")))?.fresh).toBe(true);
});
