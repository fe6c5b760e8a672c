/** Where a verification is shown, and when it no longer counts. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { train } from "../learn/train.ts";
import { evaluate } from "../loops/eval.ts";
import { trainingReport } from "../report/training/report.ts";
import { listRuns } from "../runs/catalogue.ts";
import {
  madeAgainLine,
  type PartName,
  readVerification,
  verificationLine,
  writeVerification,
} from "../runs/verification.ts";
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
  expect(await lineInList()).toMatch(/^partly verified: score 1 of 1 \(by lockedroom /);
  const summary = at("eval", "summary.json");
  const text = readFileSync(summary, "utf8");
  writeFileSync(summary, `${text} `);
  expect(await lineInList()).toMatch(/^verification out of date/);
  writeFileSync(summary, text);
  writeFileSync(at("eval", "verification.json"), "{");
  expect(await lineInList()).toBeUndefined();
});

test("every part is shown, and less than all parts is never called verified", async () => {
  const files = await verify({ run: at("eval"), only: ["files"] });
  expect(files.result).toBe("partly_verified");
  expect(madeAgainLine(files)).toMatch(/^partly verified: files 3 of 3 \(by lockedroom /);
  const all = { only: ["files", "data", "answers", "score", "sample", "exposure"] as const };
  const whole = await verify({ run: at("eval"), ...all });
  expect(whole.result).toBe("not_verified");
  const line = madeAgainLine(whole);
  for (const part of all.only) expect(line).toContain(part);
});

test("a weaker verification does not replace a fuller one of the same run", async () => {
  const dir = at("eval");
  const partsIn = async () =>
    (await readVerification(dir))?.verification.parts.map(({ part }) => part);
  const write = async (...only: PartName[]) =>
    (await writeVerification(dir, await verify({ run: dir, only }))).written;
  rmSync(at("eval", "verification.json"), { force: true });
  expect(await write("files")).toBe(true);
  expect(await write("files", "score")).toBe(true);
  expect(await write("files")).toBe(false);
  expect(await partsIn()).toEqual(["files", "score"]);
  // As full as the one that is there: the newer one counts.
  expect(await write("files", "score")).toBe(true);

  // What differs is always news, and a check of something else does not take it back.
  const results = at("eval", "results.jsonl");
  const text = readFileSync(results, "utf8");
  writeFileSync(results, text.replace('"reward":1', '"reward":0'));
  expect(await write("score")).toBe(true);
  writeFileSync(results, text);
  expect(await write("files", "exposure")).toBe(false);
  expect((await readVerification(dir))?.verification.result).toBe("differs");
  expect(await write("score")).toBe(true);

  // Of another summary it says nothing.
  expect(await write("files", "score")).toBe(true);
  const summary = at("eval", "summary.json");
  const before = readFileSync(summary, "utf8");
  writeFileSync(summary, `${before} `);
  expect(await write("score")).toBe(true);
  writeFileSync(summary, before);
});

test("what is not verified never reads as verified", async () => {
  const found = await verify({ run: at("eval"), only: ["score", "sample", "data"] });
  expect(found.result).toBe("not_verified");
  const line = verificationLine({ verification: found, fresh: true });
  expect(line).toMatch(/^not verified: score 1 of 1, sample not possible, data not possible/);
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
  expect(before).not.toContain("train 2 of 2");
  const found = await verify({ run: at("sft"), train: true });
  expect(found.parts[1]).toMatchObject({ status: "equal", repeated: 2, of: 2 });
  await writeVerification(at("sft"), found);
  const { html } = await trainingReport({ runs: [at("sft")] });
  expect(html).toContain("<p>Verified: files 6 of 6, train 2 of 2 (by lockedroom ");
  expect((await readVerification(at("sft")))?.fresh).toBe(true);
});
