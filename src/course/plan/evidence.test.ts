/** Criteria of later phases: met by real files and by nothing less, or said to lack their tools. */

import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gate } from "../../gate/index.ts";
import { runKlTradeoff } from "../../learn/index.ts";
import { evaluate } from "../../loops/index.ts";
import type { GateReport } from "../../runs/index.ts";
import { openScorer } from "../../scorers/index.ts";
import { Shelf } from "../shelf.ts";
import { DEFAULT_CONFIG, MARKER } from "../workspace.ts";
import { type Criterion, type Finding, look, type Place } from "./criterion.ts";
import { PHASE_1 } from "./phase-1.ts";
import { PHASE_2 } from "./phase-2.ts";
import { PHASE_3 } from "./phase-3.ts";
import { PHASE_4 } from "./phase-4.ts";
import { Trainings } from "./trainings.ts";

const ALL = ["eval", "gate"];
const CRITERIA = [...PHASE_1, ...PHASE_2, ...PHASE_3, ...PHASE_4];

let dir: string;
beforeAll(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), "lockedroom-plan-")));
  write(MARKER, DEFAULT_CONFIG);
});
afterAll(() => rmSync(dir, { recursive: true }));

const write = (name: string, content: unknown) => {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(path.join(dir, name), text);
};

async function finding(id: string, commands: readonly string[] = ALL): Promise<Finding> {
  const place: Place = {
    dir,
    config: DEFAULT_CONFIG,
    shelf: await Shelf.read(dir),
    trainings: await Trainings.read(dir),
    commands: new Set(commands),
  };
  return look(CRITERIA.find((one) => one.id === id) as Criterion, place);
}

const statusOf = async (id: string, commands?: readonly string[]) =>
  (await finding(id, commands)).status;

test("without the tools it is said which are lacking; with them, nothing is faked", async () => {
  const later = CRITERIA.flatMap((one) => ("needs" in one ? [one] : []));
  expect(later.map(({ id }) => id)).toEqual(["preference_data_exported", "azure_job"]);
  for (const { id, needs } of later) {
    const lacking = { status: "no_tool_yet", commands: needs };
    expect(await finding(id, []), id).toEqual(lacking);
    expect((await finding(id, needs)).status, id).toBe("not_judged_yet");
  }
});

test("the leash in the small: a whole sweep, and not a copy of one", async () => {
  expect(await statusOf("kl_under_the_microscope")).toBe("missing");
  await runKlTradeoff({ outdir: path.join(dir, "runs/kl") });
  expect(await statusOf("kl_under_the_microscope")).toBe("met");
  renameSync(path.join(dir, "runs/kl"), path.join(dir, "runs/mine"));
  expect(await statusOf("kl_under_the_microscope")).toBe("missing");
  rmSync(path.join(dir, "runs/mine"), { recursive: true });
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
  const scorer = await openScorer();
  await evaluate({
    ...{ dataset: dataset as string, completions: completions as string, scorer },
    outdir: path.join(dir, "runs", name),
  });
  await scorer.close();
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
});

/** Incomparable runs have no difference that could give a typed pass rate away. */
const forged = (report: GateReport): GateReport => ({
  ...report,
  baseline: { ...report.baseline, pass_rate: 0.1 },
});

test("a refusal counts only where the pass rate rose", async () => {
  await measure("tampered", 18, (n) => (n < 18 ? n : -1));
  const options = (baseline: string, candidate: string) => ({
    baseline: path.join(dir, "runs", baseline),
    candidate: path.join(dir, "runs", candidate),
  });
  write("runs/worse.json", await gate(options("fixed", "broken")));
  expect(await statusOf("capstone_regression")).toBe("missing");
  const report = await gate(options("fixed", "tampered"));
  write("runs/worse.json", forged(await gate(options("tampered", "fixed"))));
  expect(await statusOf("capstone_regression"), "figures that were typed").toBe("missing");
  rmSync(path.join(dir, "runs/worse.json"));
  write("runs/caught.json", report);
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
