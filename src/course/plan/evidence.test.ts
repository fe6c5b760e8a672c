/** Criteria whose tools come later, and the portfolio: met by real files, and by nothing less. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { evaluate, gate, openScoring, writeExperiment } from "../../index.ts";
import { DEFAULT_CONFIG } from "../workspace.ts";
import { type Criterion, look, type Place } from "./criterion.ts";
import { PHASE_1 } from "./phase-1.ts";
import { PHASE_2 } from "./phase-2.ts";
import { PHASE_3 } from "./phase-3.ts";
import { PHASE_4 } from "./phase-4.ts";
import { Shelf } from "./shelf.ts";

const ALL = ["eval", "gate", "train", "azure", "report", "sweep"];
const CRITERIA = [...PHASE_1, ...PHASE_2, ...PHASE_3, ...PHASE_4];

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), "lockedroom-plan-"));
});
afterAll(() => rmSync(dir, { recursive: true }));

const write = (name: string, content: unknown) => {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(path.join(dir, name), text);
};

async function statusOf(id: string, commands: readonly string[] = ALL): Promise<string> {
  const place: Place = {
    dir,
    config: DEFAULT_CONFIG,
    shelf: await Shelf.read(dir),
    commands: new Set(commands),
  };
  return (await look(CRITERIA.find((one) => one.id === id) as Criterion, place)).status;
}

/** A run as `train` will write one: Loop C, an algorithm, a log of steps. */
function train(
  name: string,
  learning: Record<string, string | number | string[]>,
  steps: object[] = [],
) {
  return writeExperiment(path.join(dir, "runs", name), async () => ({
    command: "train",
    reward: {
      ...{ name: "math_final_line", version: "1.0.0", spec: "test", path: null },
      source_sha256: "0".repeat(64),
    },
    learning,
    parameters: [name],
    rows: [0, 1, 2].map((n) => ({
      id: `s${n}`,
      prompt: "Compute.",
      expected_answer: 1,
      completion: `Final: ${name}`,
      reward: n % 2,
      outcome_code: n % 2 === 1 ? "ok" : "wrong_answer",
      details: {},
    })),
    metrics: {},
    log: steps,
    title: "t",
    happened: "h",
  }));
}

const step = (kl: number) => ({ step: 1, mean_reward: 0.5, kl, entropy: 1.2, mean_length: 40 });

test("without the tool nothing is asked; with it, evidence is", async () => {
  for (const { id, needs = [] } of CRITERIA.filter((one) => one.needs)) {
    expect(await statusOf(id, []), id).toBe("no_tool_yet");
    expect(await statusOf(id, needs), id).toBe("missing");
  }
});

test("a DPO run counts, one of a microscope or a half-written one does not", async () => {
  await train("dpo", { algorithm: "dpo" });
  expect(await statusOf("dpo_run")).toBe("met");
  rmSync(path.join(dir, "runs/dpo/summary.json"));
  expect(await statusOf("dpo_run")).toBe("missing");
  rmSync(path.join(dir, "runs/dpo"), { recursive: true });
  await writeExperiment(path.join(dir, "runs/dpo"), async () => ({
    ...{ command: "bandit-train", learning: { algorithm: "dpo" }, parameters: [], metrics: {} },
    ...{ title: "t", happened: "h", rows: [] },
    reward: { name: "r", version: "1", spec: "s", path: null, source_sha256: "0".repeat(64) },
  }));
  expect(await statusOf("dpo_run")).toBe("missing");
  rmSync(path.join(dir, "runs/dpo"), { recursive: true });
});

test("a report speaks of the DPO run that a gate compared", async () => {
  await train("sft", { algorithm: "sft" });
  await train("dpo", { algorithm: "dpo" });
  const [baseline, candidate] = ["sft", "dpo"].map((name) => path.join(dir, "runs", name));
  const report = await gate({ baseline: baseline as string, candidate: candidate as string });
  expect(report.comparable).toBe(true);
  write("runs/dpo-gate.json", report);
  write("reports/other.html", "<p>runs/sft</p>");
  expect(await statusOf("evaluation_report")).toBe("missing");
  write("reports/dpo.html", "<p>runs/dpo</p>");
  expect(await statusOf("evaluation_report")).toBe("met");
});

test("an Azure job must have succeeded, and pairs must be pairs", async () => {
  const job = { schema: "lockedroom.azure_job@1", id: "ft-1", method: "dpo", status: "running" };
  write("runs/job.json", job);
  expect(await statusOf("azure_job")).toBe("missing");
  write("runs/job.json", { ...job, status: "succeeded" });
  expect(await statusOf("azure_job")).toBe("met");
  const pair = { input: { messages: [] }, preferred_output: [], non_preferred_output: [] };
  const lines = (count: number) => `${JSON.stringify(pair)}\n`.repeat(count);
  write("data/pairs.jsonl", lines(9));
  expect(await statusOf("preference_data_exported")).toBe("missing");
  write("data/pairs.jsonl", `${lines(10)}{"input":{}}\n`);
  expect(await statusOf("preference_data_exported")).toBe("missing");
  write("data/pairs.jsonl", lines(10));
  expect(await statusOf("preference_data_exported")).toBe("met");
});

test("RFT: the run, its curves, and a leash that holds", async () => {
  await train("rft-weak", { algorithm: "grpo", beta: 0.01 }, [{ step: 1, mean_reward: 1, kl: 3 }]);
  expect(await statusOf("rft_run")).toBe("met");
  expect(await statusOf("stability_diagnostics")).toBe("missing");
  rmSync(path.join(dir, "runs/rft-weak"), { recursive: true });
  await train("rft-weak", { algorithm: "grpo", beta: 0.01 }, [step(3)]);
  expect(await statusOf("stability_diagnostics")).toBe("met");
  expect(await statusOf("kl_controlled_for_real")).toBe("missing");
  await train("rft-strong", { algorithm: "grpo", beta: 0.5 }, [step(9)]);
  expect(await statusOf("kl_controlled_for_real")).toBe("missing");
  rmSync(path.join(dir, "runs/rft-strong"), { recursive: true });
  await train("rft-strong", { algorithm: "grpo", beta: 0.5 }, [step(0.2)]);
  expect(await statusOf("kl_controlled_for_real")).toBe("met");
  writeFileSync(path.join(dir, "runs/rft-strong/log.jsonl"), JSON.stringify(step(0.1)));
  expect(await statusOf("kl_controlled_for_real"), "an edited log").toBe("missing");
});

test("several objectives, and a sweep over runs that exist", async () => {
  for (const n of [1, 2, 3])
    await train(`sweep-${n}`, { algorithm: "grpo", objectives: ["a", "b"] });
  expect(await statusOf("several_objectives")).toBe("met");
  const sweep = (runs: string[]) => write("runs/s.json", { schema: "lockedroom.sweep@1", runs });
  sweep(["runs/sweep-1", "runs/sweep-2", "runs/gone", "runs/sweep-2"]);
  expect(await statusOf("tradeoff_curve")).toBe("missing");
  sweep(["runs/sweep-1", "runs/sweep-2", "runs/sweep-3"]);
  expect(await statusOf("tradeoff_curve")).toBe("met");
});

/** Evaluates `right` of 20 sums answered rightly. */
async function measure(name: string, right: number, expected = (n: number) => n): Promise<void> {
  const rows = Array.from({ length: 20 }, (_, n) => n);
  const lines = (row: (n: number) => object) =>
    rows.map((n) => `${JSON.stringify(row(n))}\n`).join("");
  const data = (n: number) => ({ id: `s${n}`, prompt: `${n}`, expected_answer: expected(n) });
  write(`${name}.d.jsonl`, lines(data));
  write(
    `${name}.c.jsonl`,
    lines((n) => ({ id: `s${n}`, completion: `Final: ${n < right ? n : -1}` })),
  );
  const [dataset, completions] = ["d", "c"].map((kind) => path.join(dir, `${name}.${kind}.jsonl`));
  const scoring = await openScoring();
  await evaluate({
    ...{ dataset: dataset as string, completions: completions as string, scoring },
    outdir: path.join(dir, "runs", name),
  });
  await scoring.close();
}

const long = (text: string) => `${text}\n\n${"word ".repeat(200)}\n`;

test("a case study links to what holds, and shows a failure with its repair", async () => {
  await measure("broken", 2);
  await measure("fixed", 18);
  await measure("ablated", 10);
  const links = (...names: string[]) =>
    names.map((name) => `[${name}](../../runs/${name})`).join(" ");
  const study = (text: string) => write("portfolio/case_study/README.md", long(text));
  study(`# Study\n${links("broken", "fixed", "gone")} ${links("fixed")}`);
  expect(await statusOf("case_study")).toBe("missing");
  study(`# Study\n${links("broken", "fixed", "ablated")}\n## The failure\n${links("broken")}`);
  expect(await statusOf("case_study")).toBe("met");
  expect(await statusOf("capstone_failure")).toBe("missing");
  expect(await statusOf("capstone_reproduction")).toBe("missing");
  expect(await statusOf("case_study_diagnostics")).toBe("missing");
  study(
    [
      `# Study\n${links("broken", "fixed", "ablated")}`,
      `## The failure, and its fix\n${links("broken", "fixed")}`,
      "## Reproduce it\n\n```sh\nlockedroom eval --dataset d\nlockedroom gate\n```",
      "## Failure modes\n\n| mode | seen |\n|---|---|\n| reward hacking | no |\n| verbosity | no |",
      "| refusal drift | no |\n| safety regressions | no |\n| mode collapse | no |",
      "## Cost\n\n12 seconds.\n## Ends\n",
    ].join("\n"),
  );
  expect(await statusOf("capstone_failure")).toBe("met");
  expect(await statusOf("capstone_reproduction")).toBe("met");
  expect(await statusOf("capstone_reproduction", ["eval"]), "a command nobody has").toBe("missing");
  expect(await statusOf("case_study_diagnostics")).toBe("met");
  expect(await statusOf("case_study_methods")).toBe("missing");
});

test("a refusal counts only where the pass rate rose", async () => {
  await measure("tampered", 18, (n) => (n < 18 ? n : -1));
  const options = (baseline: string, candidate: string) => ({
    baseline: path.join(dir, "runs", baseline),
    candidate: path.join(dir, "runs", candidate),
  });
  write("runs/worse.json", await gate(options("fixed", "broken")));
  expect(await statusOf("capstone_regression")).toBe("missing");
  write("runs/caught.json", await gate(options("fixed", "tampered")));
  expect(await statusOf("capstone_regression")).toBe("met");
});

test("the talk, the slides and the reference", async () => {
  const parts = ["Problem", "Pipeline", "Failure", "Fix", "Results", "Lessons"];
  const talk = (minutes: number) =>
    write("portfolio/talk.md", parts.map((part) => `## ${part} (${minutes} min)\n`).join("\n"));
  talk(3);
  expect(await statusOf("talk_outline")).toBe("missing");
  talk(2);
  expect(await statusOf("talk_outline")).toBe("met");
  const slides = (lessons: number, picture: string) =>
    write("portfolio/slides.md", `![c](${picture})\n## Lessons\n${"- one\n".repeat(lessons)}`);
  write("portfolio/curve.svg", "<svg/>");
  slides(3, "gone.svg");
  expect(await statusOf("capstone_slides")).toBe("missing");
  slides(6, "curve.svg");
  expect(await statusOf("capstone_slides")).toBe("missing");
  slides(3, "curve.svg");
  expect(await statusOf("capstone_slides")).toBe("met");
  write("portfolio/reference/README.md", long("no command"));
  expect(await statusOf("reference_implementation")).toBe("missing");
  write("portfolio/reference/README.md", long("run `./lockedroom eval`"));
  expect(await statusOf("reference_implementation")).toBe("met");
});
