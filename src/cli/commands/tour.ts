/** `lockedroom tour`: the main workflow on embedded data, step by step. */

import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { ioError, usageError } from "../../core/errors.ts";
import type { Example } from "../../core/records.ts";
import type { GuardedScorer } from "../../core/score.ts";
import { gate } from "../../gate/gate.ts";
import { trainBandit } from "../../learn/tabular/bandit.ts";
import { runBandit } from "../../learn/tabular/bandit-run.ts";
import { evaluate } from "../../loops/eval.ts";
import { select } from "../../loops/select.ts";
import { builtInPolicy } from "../../loops/selection-policy.ts";
import { inspectRun } from "../../report/inspect.ts";
import { openRun } from "../../runs/reader.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import type { FinishedRun } from "../../runs/scored-run.ts";
import { openScorer } from "../../scorers/open.ts";
import { printSteps } from "../slow-steps.ts";
import { out, paint, print, program } from "../terminal.ts";
import { races } from "../tour-environment.ts";
import { printOutcome } from "./eval.ts";
import { gateText } from "./gate.ts";
import { printSelection } from "./selection-demo.ts";

const DATA = fileURLToPath(new URL("../../../data/", import.meta.url));
const DATASET = path.join(DATA, "datasets/math_dev.jsonl");
const COMPLETIONS = path.join(DATA, "rollouts/frozen_rollouts_dev.jsonl");
const SAMPLES = path.join(DATA, "rollouts/selection_pack_dev.jsonl");
/** Marks a folder of a tour, which the next tour may overwrite. */
const MARK = ".tour";

export const help = `Examples:
  lockedroom tour
  lockedroom tour --yes --outdir /tmp/tour`;

export function define(command: Command): void {
  command
    .description(
      "Walks through the main workflow on embedded data: evaluate, tamper, select, learn, compare with the gate, act in an environment, and ask a judge. Waits for Enter between steps on a terminal.",
    )
    .option("--outdir <folder>", "where the tour's runs are written", "runs/tour")
    .option("--yes", "do not wait for Enter")
    .action(run);
}

async function run({ outdir, yes }: { outdir: string; yes?: boolean }): Promise<void> {
  await prepareFolder(outdir);
  const pause = yes ? async () => {} : waitForEnter;
  const scorer = await openScorer();

  step(1, "Evaluate: the pass rate of the policy");
  explain(
    "240 arithmetic problems, one frozen completion each, and a strict scorer: the completion must be the single line “Final: <int>”. This is Loop A: nothing is learned.",
  );
  const evaluated = (dataset: string, name: string) =>
    evaluate({ dataset, completions: COMPLETIONS, outdir: path.join(outdir, name), scorer });
  const honest = await evaluated(DATASET, "honest");
  printOutcome(honest);
  await pause();

  step(2, "Tamper: a higher pass rate without a better policy");
  const tampered = path.join(outdir, "math_dev_TAMPERED.jsonl");
  const change = await tamper(honest, tampered);
  explain(
    `One expected answer is edited to match the completion: ${change}. Same completions, same scorer.`,
  );
  const better = await evaluated(tampered, "tampered");
  explain(`The pass rate rises from ${rate(honest)} to ${rate(better)}. Promote?`);
  await pause();

  step(3, "Gate: are the two runs comparable?");
  out(gateText(await gate({ baseline: honest.dir, candidate: better.dir })));
  explain(
    "The gate reads only the two run folders. The data sets differ, so the difference in pass rate says nothing about the policy.",
  );
  await pause();

  step(4, "Select: better outputs from the same policy");
  explain(
    "Eight samples for each problem. Selecting the best of four instead of the first is Loop B: the selection changes, the policy does not.",
  );
  const pick = (n: number) =>
    select({
      ...{ dataset: DATASET, samples: SAMPLES, n, scorer, policy: builtInPolicy() },
      outdir: path.join(outdir, `best_of_${n}`),
    });
  const first = await pick(1);
  const best = await pick(4);
  printSelection(best);
  out();
  explain("Claimed as a better policy, it is rejected, because the manifests show what changed:");
  out(gateText(await gate({ baseline: first.dir, candidate: best.dir, claim: "policy" })));
  await pause();

  step(5, "Learn: the policy changes");
  explain(
    "Four arms, a softmax policy, REINFORCE with a baseline: Loop C, small enough to check by hand. The first three updates:",
  );
  const settings = { steps: 200, seed: 0, lr: 0.5, baseline: true };
  printSteps(trainBandit({ ...settings, steps: 3 }), settings.lr, true);
  const bandit = (name: string, steps: number) =>
    runBandit({ ...settings, steps, outdir: path.join(outdir, name) });
  const untrained = await bandit("untrained", 0);
  const trained = await bandit("trained", settings.steps);
  explain(`After ${settings.steps} updates the policy did change, as claimed:`);
  out(gateText(await gate({ baseline: untrained.dir, candidate: trained.dir, claim: "policy" })));
  await pause();

  step(6, "Train a small transformer with GRPO");
  await learning(outdir, scorer);
  await pause();

  step(7, "Act: several turns in an environment");
  explain(
    "A policy can also act over several turns: it reads an observation, answers, and reads the next. In this race each answer is “ahead” or “circle”. It begins like this:",
  );
  const { turns, ends } = races();
  for (const line of turns) out(`  ${line}`);
  out();
  explain(
    "The task is to reach the finish. The naive reward counts points at the buoys, the mended one the course behind the boat. A player who knows the task (gold) and one who circles (exploit) earn:",
  );
  for (const line of ends) out(`  ${line}`);
  out();
  explain(
    "A policy that learns from the naive reward learns to circle. Chapter 27 of the manual trains both.",
  );
  await pause();

  step(8, "Judge: scores where no rule can score");
  explain(
    "Whether a reply to a customer is good, no program can say. A judge, a language model, compares the attempts at one task in one request and scores them. Here is one request to two embedded judges over HTTP, of which the second obeys what it reads:",
  );
  const { judgedReplies } = await import("../tour-judge.ts");
  for (const line of await judgedReplies()) out(`  ${line}`);
  out();
  explain(
    "A policy that learns from the second judge learns to ask for scores. So a judge is audited before its scores count: judge-audit convicts the second and trusts the first. Chapter 28 of the manual trains with a judge, and stops by labels.",
  );
  await pause();

  step(9, "Next steps");
  explain(
    `Every run is a folder: manifest.json (inputs, scorer, settings), results.jsonl (every row), summary.json, summary.md, charts, and README.md, a note for you to complete. The runs of this tour are in ${outdir}; see the charts ${best.dir}/pass_at_k.png and ${trained.dir}/probabilities.png.`,
  );
  out(`  ${program()} inspect-run --run ${honest.dir} --only-fails`);
  out(`  ${program()} goodhart-demo --outdir runs/goodhart`);
  out(`  ${program()} env check boat-race-naive`);
  out(`  ${program()} judge-audit --judge embedded:injection --outdir runs/audit`);
  out(`  ${program()} --help`);
  out();
  explain("To start the course, make a workspace:");
  out(`  ${program()} init my-room`);
  out("  cd my-room");
  out("  ./lockedroom level 0");
  await scorer.close();
}

async function learning(outdir: string, scorer: GuardedScorer): Promise<void> {
  // Loaded lazily: the engine is optional.
  const { canLearn, learn } = await import("../tour-learning.ts");
  if (!(await canLearn())) {
    explain(
      "This step needs the package onnxruntime-node, which is not installed: npm install onnxruntime-node. The other steps work without it.",
    );
    return;
  }
  explain(
    "π₀ is a transformer with 0.15 million parameters that knows some arithmetic and answers in a dozen formats. Each of 20 GRPO updates samples eight completions for each of 32 training problems, scores them with the scorer of step 1, and makes the better ones more likely. This takes about ten seconds.",
  );
  const { verdict, report } = await learn(outdir, scorer);
  explain("Both policies on 240 holdout problems, one sample each at temperature 1:");
  out(gateText(verdict));
  explain(`Report of the training run: ${report}`);
}

/** Edits the example of the first answer that was read and is wrong, so that it counts as right. */
async function tamper(honest: FinishedRun, target: string): Promise<string> {
  const { groups } = await inspectRun(await openRun(honest.dir), { onlyFails: true, show: 1 });
  const parsedOf = (one: ResultRow) => (one.details as { parsed?: string } | null)?.parsed;
  const row = groups.flatMap(({ rows }) => rows).find((one) => parsedOf(one) !== undefined);
  const parsed = Number(row && parsedOf(row));
  const lines = (await readFile(DATASET, "utf8")).split("\n").map((line) => {
    const example = line === "" ? undefined : (JSON.parse(line) as Example);
    if (example === undefined || example.id !== row?.id) return line;
    return JSON.stringify({ ...example, expected_answer: parsed });
  });
  await writeFile(target, lines.join("\n"));
  return `${row?.id}, from ${JSON.stringify(row?.expected_answer)} to ${parsed}`;
}

async function prepareFolder(outdir: string): Promise<void> {
  const mark = path.join(outdir, MARK);
  if (existsSync(outdir) && !existsSync(mark)) {
    throw usageError(`${outdir} exists and was not made by a tour`, "Choose another --outdir.");
  }
  try {
    await rm(outdir, { recursive: true, force: true });
    await mkdir(outdir, { recursive: true });
    await writeFile(mark, "This folder is replaced by the next `lockedroom tour`.\n");
  } catch (error) {
    throw ioError(`write to ${outdir}`, error, "usage");
  }
}

/** Only on a terminal. */
async function waitForEnter(): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return;
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  await prompt.question(paint("dim", "\n[Enter] "));
  prompt.close();
}

function step(number: number, title: string): void {
  out(`\n${paint("bold", `── ${number}. ${title} `.padEnd(80, "─"))}\n`);
}

function explain(text: string): void {
  print(text);
  out();
}

function rate({ summary }: FinishedRun): string {
  return summary.metrics.pass_rate?.toFixed(4) ?? "undefined";
}
