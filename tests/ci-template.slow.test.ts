/** The workflow of templates/ci: its commands are run as the workflow runs them. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { BIN, ROOT, scorerSource, start, Workspace } from "./cli.ts";
import { chat, FakeEndpoint } from "./endpoint.ts";

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly "working-directory"?: string;
}
interface Workflow {
  readonly env: Record<string, string>;
  readonly jobs: { readonly gate: { readonly steps: readonly Step[] } };
}
const { env, jobs } = parse(
  readFileSync(path.join(ROOT, "templates/ci/gate.yml"), "utf8"),
) as Workflow;

const N = 300;
const numbers = Array.from({ length: N }, (_, i) => i);
const sumsWith = (offset: number) =>
  numbers.map((i) => ({ id: `s${i}`, prompt: `Compute ${i} + 0.`, expected_answer: i + offset }));

/** A model that is right, but for the three in a hundred that are hard and, told to hurry, every tenth. */
const model = () =>
  FakeEndpoint.start(({ body, prompt }) => {
    const number = Number(/\d+/.exec(prompt)?.[0]);
    const hurries = body.messages[0]?.content.includes("Hurry");
    const isWrong = number % 33 === 0 || (hurries && number % 10 === 1);
    return { body: chat(`Final: ${isWrong ? -1 : number}`) };
  });

const STRICT = scorerSource(
  `const isRight = completion === "Final: " + example.expected_answer;
  return { reward: isRight ? 1 : 0, code: isRight ? "ok" : "wrong", details: {} };`,
);
const LENIENT = scorerSource("return { reward: 1, code: 'ok', details: {} };");

interface Branch {
  readonly prompt: string;
  readonly scorer?: string;
  readonly offset?: number;
}

/** What the workflow leaves for a pull request; the exit code of each command up to the first that fails. */
async function workflow(base: Branch, head: Branch) {
  const workspace = new Workspace();
  for (const [folder, branch] of Object.entries({ base, "pull-request": head })) {
    workspace.jsonl(`${folder}/${env.DATASET}`, sumsWith(branch.offset ?? 0));
    workspace.write(`${folder}/${env.SCORER}`, branch.scorer ?? STRICT);
    workspace.write(`${folder}/${env.PROMPT}`, branch.prompt);
  }
  const endpoint = await model();
  const summary = path.join(workspace.dir, "summary.md");
  const surroundings = { env: { ...env, ...endpoint.env, GITHUB_STEP_SUMMARY: summary } };
  const codes: Record<string, number | null> = {};
  for (const { run, name = "", "working-directory": folder = "" } of jobs.gate.steps) {
    if (!run?.startsWith("npx lockedroom")) continue;
    const line = run.replace("npx lockedroom", `"${process.execPath}" "${BIN}"`);
    const cwd = path.join(workspace.dir, folder);
    codes[name] = (await start("bash", ["-e", "-c", line], cwd, surroundings).finished).code;
  }
  endpoint.stop();
  return {
    gate: codes.Gate,
    others: { ...codes, Gate: 0 },
    read: (f: string) => workspace.read(f),
  };
}

const succeeded = Object.fromEntries(
  jobs.gate.steps.flatMap(({ run, name = "" }) =>
    run?.startsWith("npx lockedroom") ? [[name, 0]] : [],
  ),
);

test("a prompt in other words passes, and the verdict is in the summary of the job", async () => {
  const { gate, others, read } = await workflow(
    { prompt: "Compute." },
    { prompt: "Compute, please." },
  );
  expect(read("summary.md")).toContain("## Gate: PASS");
  expect(gate).toBe(0);
  expect(others).toEqual(succeeded);
  expect(read("gate.xml")).toContain(`tests="${N + 1}" failures="0"`);
  expect(read("gate.html")).toContain("PASS.");
}, 120_000);

test("one that loses a tenth is refused, with what it lost", async () => {
  const { gate, others, read } = await workflow({ prompt: "Compute." }, { prompt: "Hurry up." });
  expect(gate).toBe(1);
  expect(others).toEqual(succeeded);
  expect(read("summary.md")).toContain("## Gate: REJECT");
  expect(read("gate.xml")).toContain('name="s1">');
  expect(read("gate.html")).toContain("<code>s1</code>");
}, 120_000);

test("a pull request cannot pass by other data or a scorer of its own", async () => {
  const { gate, read } = await workflow(
    { prompt: "Compute." },
    { prompt: "Hurry up.", scorer: LENIENT, offset: -1 },
  );
  expect(gate).toBe(1);
  expect(read("runs/candidate/manifest.json")).not.toContain("pull-request/evals");
}, 120_000);
