/** The workflow of templates/ci: its commands are those of this version, and what they read is safe. */

import { readFileSync } from "node:fs";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { pairsToRuleOut } from "../stats/margin-power.ts";
import { loadCommand } from "./commands.ts";

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly with?: Record<string, string>;
  readonly run?: string;
  readonly "working-directory"?: string;
}

interface Workflow {
  readonly on: Record<string, unknown>;
  readonly env: Record<string, string>;
  readonly jobs: {
    readonly gate: {
      readonly permissions: Record<string, string>;
      readonly steps: readonly Step[];
    };
  };
}

const text = readFileSync(new URL("../../templates/ci/gate.yml", import.meta.url), "utf8");
const PREFIX = "npx lockedroom ";

/** What the real options of a command make of the words after its name; throws as the command would. */
async function flagsOf(line: string, env: Record<string, string>) {
  const [name = "", ...words] = line
    .slice(PREFIX.length)
    .replace(/ >.*$/, "")
    .split(" ")
    .map((word) => word.replaceAll('"', "").replace(/\$(\w+)/g, (_, key) => env[key] ?? ""));
  const command = new Command(name).exitOverride().configureOutput({ writeErr: () => {} });
  (await loadCommand(name)).define(command, () => {}, words);
  command.action(() => {});
  await command.parseAsync(words, { from: "user" });
  return { name, flags: command.opts() as Record<string, unknown> };
}

/** Everything wrong with a workflow: commands that do not exist, and what a pull request could change. */
async function problems(source: string): Promise<string[]> {
  const { on, env, jobs } = parse(source) as Workflow;
  const { steps, permissions } = jobs.gate;
  const found: string[] = [];
  const wrong = (isWrong: boolean, what: string) => {
    if (isWrong) found.push(what);
  };
  wrong(!("pull_request" in on) || "pull_request_target" in on, "trigger");
  wrong(JSON.stringify(permissions) !== '{"contents":"read"}', "permissions");
  const refOf = (folder: string) =>
    steps.find((step) => step.uses?.startsWith("actions/checkout") && step.with?.path === folder)
      ?.with?.ref ?? "";
  wrong(!refOf("base").includes("pull_request.base.sha"), "base is not the base branch");
  wrong(!refOf("pull-request").includes("pull_request.head.sha"), "no checkout of the head");
  const commands: Record<string, Record<string, unknown>> = {};
  for (const step of steps) {
    if (step.run === undefined) continue;
    wrong(step["working-directory"] !== "base", `${step.name ?? step.run} does not run in base`);
    if (!step.run.startsWith(PREFIX)) continue;
    try {
      const { name, flags } = await flagsOf(step.run, env);
      commands[`${name} ${/candidate$/.test(step.name ?? "") ? "candidate" : ""}`.trim()] = flags;
    } catch (error) {
      found.push(`${step.name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  for (const [command, flags] of Object.entries(commands))
    for (const [flag, value] of Object.entries(flags)) {
      const fromHead = String(value).includes("pull-request");
      const mayBe = command === "rollout candidate" && (flag === "system" || flag === "policy");
      wrong(fromHead && !mayBe, `${command} --${flag} comes from the pull request`);
    }
  wrong(
    !String(commands["rollout candidate"]?.system).startsWith("../pull-request/"),
    "nothing of the pull request is measured",
  );
  return found;
}

test("every command is accepted, and only the prompt comes from the pull request", async () => {
  expect(await problems(text)).toEqual([]);
  const { jobs } = parse(text) as Workflow;
  const lines = jobs.gate.steps.flatMap(({ run = "" }) => (run.startsWith(PREFIX) ? [run] : []));
  expect(lines.map((line) => line.split(" ")[2])).toEqual([
    ...["rollout", "rollout", "eval", "eval", "gate", "report"],
  ]);
});

/** Rounded up to two digits, as the table of the template has them. */
function examplesNeeded(margin: number, share: number): number {
  const n = pairsToRuleOut({ gained: share / 2, lost: share / 2, margin, alpha: 0.05 }) ?? 0;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(n)) - 1);
  return Math.ceil(n / unit) * unit;
}

test("the table of margins and examples is that of the gate's own formulas", () => {
  const rows = [...text.matchAll(/^ {2}# {3}(0\.\d\d)(.*)$/gm)];
  const tables = rows.map(([, margin = "", cells = ""]) => [
    margin,
    ...cells.trim().split(/ +/).map(Number),
  ]);
  expect(tables).toEqual(
    [0.1, 0.05, 0.02, 0.01].map((margin) => [
      margin.toFixed(2),
      ...[0, 0.05, 0.1, 0.2].map((share) => examplesNeeded(margin, share)),
    ]),
  );
});

test("the package is installed from the file that this version packs", () => {
  const { version, name } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  const install = text.indexOf(`npm install --save-dev ./vendor/${name}-${version}.tgz`);
  expect(install).toBeGreaterThan(text.indexOf("npm pack"));
  expect(install).toBeLessThan(text.indexOf("- run: npm ci"));
});

describe("the same test notices", () => {
  const changes: [what: string, from: string, to: string, says: RegExp][] = [
    ["a flag that is gone", "--claim no-regression", "--claimed no-regression", /unknown option/],
    ["a value that is refused", 'MARGIN: "0.02"', 'MARGIN: "none"', /argument 'none' is invalid/],
    ["a missing flag", "--outdir ../runs/candidate\n", "\n", /--outdir/],
    [
      "data of the pull request",
      '--dataset "$DATASET" --scorer "$SCORER" --completions ../runs/candidate-s',
      '--dataset "../pull-request/$DATASET" --scorer "$SCORER" --completions ../runs/candidate-s',
      /eval candidate --dataset comes from the pull request/,
    ],
    [
      "a scorer of the pull request",
      "SCORER: evals/scorer.ts",
      "SCORER: ../pull-request/evals/scorer.ts",
      /--scorer comes from the pull request/,
    ],
    [
      "a baseline of the pull request",
      "pull_request.base.sha",
      "pull_request.head.sha",
      /base is not the base branch/,
    ],
    ["code of the pull request", "- run: npm ci\n        working-directory: base", "- run: npm ci\n        working-directory: pull-request", /npm ci does not run in base/], // biome-ignore format: one change
    ["rights that it does not need", "contents: read", "contents: write", /permissions/],
  ];
  test.each(changes)("%s", async (_, from, to, says) => {
    expect(text).toContain(from);
    expect((await problems(text.replace(from, () => to))).join("\n")).toMatch(says);
  });
});
