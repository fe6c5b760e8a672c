/** A python grader, in its sandbox and with a local interpreter, as the scorer of commands. */

import { execFileSync } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { openRecordedGrader } from "../dist/scorers/grader-file.js";
import { DEV, describeRun, EXIT, expectError, FROZEN, Workspace } from "./cli.ts";

const SOURCE = `import re
def grade(sample, item):
    found = re.findall(r"-?\\d+", sample["output_text"])
    return 1.0 if found and int(found[-1]) == item["expected_answer"] else 0.0`;
const FORM = { input: "{{sample.output_text}}", reference: "Final:", operation: "like" };
const MIX = {
  ...{ type: "multi", name: "mix", calculate_output: "0.8*right + 0.2*form" },
  graders: {
    right: { type: "python", name: "right", source: SOURCE },
    form: { type: "string_check", name: "form", ...FORM },
  },
};

const room = new Workspace();
const evaluate = ["eval", "--dataset", DEV, "--completions", FROZEN, "--quiet"];

async function done(args: string[]) {
  const result = await room.run(args, { limitMs: 60_000 });
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
  return result;
}

beforeAll(() => {
  room.write("mix.json", JSON.stringify(MIX));
});

test("scores in eval, and is recorded so that the gate scores the rows again", async () => {
  await done([...evaluate, "--scorer", "mix.json", "--outdir", "one"]);
  const { manifest, rows: all } = room.readRun("one");
  expect(manifest.scorer).toMatchObject({ name: "mix", grader: MIX });
  const fields = ["id", "prompt", "expected_answer"];
  const opened = await openRecordedGrader(manifest.scorer, fields);
  if (typeof opened === "string") throw new Error(opened);
  const rows = all.filter(({ completion }) => typeof completion === "string").slice(0, 20);
  const requests = rows.map(({ completion, ...row }) => ({ completion, example: row }));
  const scored = await opened.scoreBatch(requests as never);
  await opened.close();
  expect(scored.map(({ reward }) => reward)).toEqual(rows.map(({ reward }) => reward));
  expect(new Set(scored.map(({ reward }) => reward)).size).toBeGreaterThan(1);
});

test("that may read any field is not scored again without the data set", async () => {
  const any = SOURCE.replace('item["expected_answer"]', "dict(item)['expected_answer']");
  const python = { type: "python", name: "any", source: any };
  room.write("any.json", JSON.stringify(python));
  await done([...evaluate, "--scorer", "any.json", "--outdir", "any"]);
  const { manifest } = room.readRun("any");
  expect(await openRecordedGrader(manifest.scorer, ["id"])).toMatch(/may read any field/);
});

test("with --python is another instrument, which nobody else runs again", async () => {
  const python = execFileSync("/bin/sh", ["-c", "command -v python3 || true"]).toString().trim();
  if (python === "") return;
  const local = [...evaluate, "--scorer", "mix.json", "--python"];
  await done([...local, python, "--outdir", "local"]);
  const { manifest, rows } = room.readRun("local");
  expect(manifest.scorer).not.toHaveProperty("grader");
  expect(rows.length).toBeGreaterThan(0);
  const lost = await room.run([...local, "/no/such/python", "--outdir", "lost"]);
  expectError(lost, EXIT.data, /no\/such\/python/);
});
