/** Criteria of later phases: met by real files only, or reported as lacking their commands. */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { canonicalJson, sha256 } from "../../core/index.ts";
import { gate } from "../../gate/index.ts";
import { runKlTradeoff } from "../../learn/index.ts";
import { type Axis, evaluate } from "../../loops/index.ts";
import { type ReportOptions, report } from "../../report/index.ts";
import { openRun } from "../../runs/index.ts";
import { openScorer } from "../../scorers/index.ts";
import { promote } from "../../verify/index.ts";
import { DEFAULT_CONFIG, MARKER } from "../workspace.ts";
import { WorkspaceRuns } from "../workspace-runs.ts";
import { type Criterion, evaluateCriterion, type Finding, type PlanContext } from "./criterion.ts";
import { figuresOf, MadeRuns } from "./made-runs.ts";
import { Pages } from "./pages.ts";
import { PHASE_1 } from "./phase-1.ts";
import { PHASE_2 } from "./phase-2.ts";
import { PHASE_3 } from "./phase-3.ts";
import { PHASE_4 } from "./phase-4.ts";
import { documentedSteps } from "./reproduction.ts";
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
  const trainings = await Trainings.read(dir);
  const context: PlanContext = {
    dir,
    config: DEFAULT_CONFIG,
    runs: await WorkspaceRuns.read(dir),
    ...{ trainings, pages: new Pages(dir, trainings.files) },
    commands: new Set(commands),
  };
  return evaluateCriterion(CRITERIA.find((one) => one.id === id) as Criterion, context);
}

const statusOf = async (id: string, commands?: readonly string[]) =>
  (await finding(id, commands)).status;

test("without the tools it is said which are lacking; with them, nothing is faked", async () => {
  const later = CRITERIA.flatMap((one) => ("needs" in one ? [one] : []));
  expect(later.map(({ id }) => id)).toEqual(["preference_data_exported", "azure_job"]);
  for (const { id, needs } of later) {
    const lacking = { status: "no_tool_yet", commands: needs };
    expect(await finding(id, []), id).toEqual(lacking);
    expect((await finding(id, needs)).status, id).toBe("not_checked_yet");
  }
});

test("the leash in the small: a whole sweep, and not a copy of one", async () => {
  expect(await statusOf("kl_tabular")).toBe("missing");
  await runKlTradeoff({ outdir: path.join(dir, "runs/kl") });
  expect(await statusOf("kl_tabular")).toBe("met");
  renameSync(path.join(dir, "runs/kl"), path.join(dir, "runs/mine"));
  expect(await statusOf("kl_tabular")).toBe("missing");
  rmSync(path.join(dir, "runs/mine"), { recursive: true });
});

/** Evaluates `right` of 20 sums answered rightly. */
async function measure(
  name: string,
  right: number,
  policy?: object,
  axes: readonly Axis[] = [],
  said: (n: number) => string = () => "",
): Promise<void> {
  const rows = Array.from({ length: 20 }, (_, n) => n);
  const lines = (row: (n: number) => object) =>
    rows.map((n) => `${JSON.stringify(row(n))}\n`).join("");
  const data = (n: number) => ({ id: `s${n}`, prompt: `${n}`, expected_answer: n });
  write(`${name}.d.jsonl`, lines(data));
  write(
    `${name}.c.jsonl`,
    lines((n) => ({ id: `s${n}`, completion: `${said(n)}Final: ${n < right ? n : -1}` })),
  );
  if (policy) write(`${name}.c.provenance.json`, { schema: "lockedroom.provenance@1", policy });
  const [dataset, completions] = ["d", "c"].map((kind) => path.join(dir, `${name}.${kind}.jsonl`));
  const scoring = await openScorer();
  await evaluate({
    ...{ dataset: dataset as string, completions: completions as string, scoring, axes },
    outdir: path.join(dir, "runs", name),
  });
  await scoring.close();
}

const long = (text: string) => `${text}\n\n${"word ".repeat(200)}\n`;

const compare = (baseline: string, candidate: string) =>
  gate({
    baseline: path.join(dir, "runs", baseline),
    candidate: path.join(dir, "runs", candidate),
  });

const links = (...names: string[]) =>
  names.map((name) => `[${name}](../../runs/${name})`).join(" ");
const study = (text: string) => write("portfolio/case_study/README.md", long(text));

test("evaluations: links are no ablations, and a failure needs its fix and its ablation", async () => {
  await measure("broken", 2, { prompt: "none" });
  await measure("fixed", 18, { prompt: "new" });
  await measure("ablated", 10, { prompt: "half" });
  await measure("unstated", 12);
  write("runs/fix.json", await compare("broken", "fixed"));
  write("runs/half.json", await compare("ablated", "fixed"));
  write("runs/part.json", await compare("broken", "ablated"));
  write("runs/guess.json", await compare("broken", "unstated"));
  study(`# Study\n${links("broken", "fixed", "ablated")}`);
  expect(await statusOf("case_study"), "three links").toBe("missing");
  study(`# Study\n${links("fix.json", "half.json", "guess.json")}`);
  expect(await statusOf("case_study"), "nobody knows what changed").toBe("missing");
  study(`# Study\n${links("fix.json", "half.json", "part.json")}`);
  expect(await statusOf("case_study")).toBe("met");

  expect(await statusOf("capstone_failure")).toBe("missing");
  study(`# Study\n## The failure\n${links("broken", "fixed", "ablated")}`);
  expect(await statusOf("capstone_failure"), "no verdict").toBe("missing");
  study(`# Study\n## The failure\n${links("fix.json")}`);
  expect(await statusOf("capstone_failure"), "no ablation").toBe("missing");
  study(`# Study\n## The failure\n${links("fix.json", "half.json")}`);
  expect(await statusOf("capstone_failure"), "undone, it gets worse").toBe("met");
  study(`# Study\n## The failure\n${links("fix.json", "part.json")}`);
  expect(await statusOf("capstone_failure"), "alone, it makes it better").toBe("met");
});

test("evaluations: an ablation without an effect confirms nothing", async () => {
  await measure("nearly", 17, { prompt: "nearly" });
  await measure("useless", 3, { prompt: "useless" });
  write("runs/nearly.json", await compare("nearly", "fixed"));
  write("runs/useless.json", await compare("broken", "useless"));
  write("runs/backwards.json", await compare("ablated", "broken"));
  const found = async (...names: string[]) => {
    study(`# Study\n## The failure\n${links("fix.json", ...names)}`);
    const one = await finding("capstone_failure");
    return one.status === "missing" ? one.found : one.status;
  };
  expect(await found("nearly.json"), "as good as the fix").toMatch(/not significant/);
  expect(await found("useless.json"), "as bad as the failure").toMatch(/not significant/);
  expect(await found("backwards.json"), "in either order of the two").toBe("met");
  expect(await found("guess.json")).toMatch(/not known/);
});

test("a page counts with any options of report, and not after an edit", async () => {
  await measure("paged", 12);
  const runs = [path.join(dir, "runs/paged")];
  const place = { name: "production", dir: path.join(dir, "aliases/production") };
  const policy = { source: "pi0", identity: { kind: "checkpoint", fingerprint: "a".repeat(64) } };
  await promote({ place, policy, force: true, reason: "first" });
  const page = async (options: Omit<ReportOptions, "runs">) => {
    const { html } = await report({ runs, ...options });
    write("runs/paged.html", html);
    const read = () => new Pages(dir, ["runs/paged.html", "runs/paged/manifest.json"]);
    expect(await read().read("runs/paged.html")).toMatchObject({ runs: [{ name: "paged" }] });
    write("runs/paged.html", html.replace("12 of 20", "19 of 20"));
    expect(await read().read("runs/paged.html")).toMatch(/not what report writes/);
    write("runs/paged.html", html.replace(/<meta name="lockedroom-report"[^>]*>/, ""));
    expect(await read().read("runs/paged.html")).toBeUndefined();
  };
  await page({});
  await page({ slice: ["prompt"] });
  await page({ prices: { in: 2, out: 10 }, alias: place.dir });
});

const MODES = [
  "reward hacking",
  "verbosity",
  "refusal drift",
  "safety regressions",
  "mode collapse",
];

test("a row with a figure for each failure mode, and the cost of a linked run", async () => {
  const { seconds } = (await openRun(path.join(dir, "runs/fixed"))).manifest.volatile;
  const found = async (rows: readonly string[], cost: string) => {
    study(`${links("fixed")}\n## Failure modes\n\n${rows.join("\n")}\n## Cost\n\n${cost}`);
    const one = await finding("case_study_diagnostics");
    return one.status === "missing" ? one.found : one.status;
  };
  const rows = MODES.map((mode, i) => `| ${mode} | not seen | ${i} of 20 |`);
  const cost = `${seconds} seconds.`;
  expect(await found(rows, cost)).toBe("met");
  const line = `| ${MODES.join(" | ")} | 1 |`;
  expect(await found([line], cost), "one line that names them all").toMatch(
    /no row .*verbos|length/,
  );
  expect(await found(rows.slice(1), cost)).toMatch(/figure for reward hacking$/);
  const named = MODES.map((mode) => `| ${mode} | no |`);
  expect(await found(named, cost), "no figures").toMatch(/for reward hacking, length bias/);
  expect(await found(rows, "1"), "a number").toMatch(/no cost in tokens, seconds/);
  expect(await found(rows, `${3 * seconds + 1} seconds.`)).toMatch(/not that of a run/);
});

test("steps that were not run, or run for something else, reproduce nothing", async () => {
  const steps = (...lines: string[]) =>
    study(
      `# Study\n${links("fixed")}\n## Reproduce\n\n\`\`\`sh\n${lines.join("\n")}\n\`\`\`\n# End`,
    );
  const found = async () => {
    const one = await finding("capstone_reproduction");
    return one.status === "missing" ? one.found : one.status;
  };
  study(`# Study\n## Reproduce\nRun \`lockedroom eval\`.`);
  expect(await found(), "commands in prose").toBe("no such steps");
  steps("rm -rf runs");
  expect(await found()).toMatch(/is not a lockedroom command/);
  steps("./lockedroom eval --dataset d > runs/x");
  expect(await found()).toMatch(/is not a lockedroom command/);
  steps("./lockedroom eval --dataset d");
  expect(await found()).toMatch(/not run in a clean folder/);
  const record = (runs: object[], of: string[][] = [["eval", "--dataset", "d"]]) =>
    write("portfolio/reproduction.json", {
      ...{ schema: "lockedroom.reproduction@1", runs },
      steps_sha256: sha256(canonicalJson(of)),
    });
  record([], [["eval"]]);
  expect(await found()).toBe("the steps have changed since");
  record([]);
  expect(await found()).toMatch(/do not make runs\/fixed/);
  record([{ path: "runs/fixed", figures_sha256: "0".repeat(64) }]);
  expect(await found()).toBe("runs/fixed has other figures than the steps gave");
});

test("documented steps are commands with their arguments", () => {
  const text =
    '## How to reproduce\n\n```sh\n# first\n$ ./lockedroom eval \\\n  --scorer "my scorer.ts"\n\nnpx lockedroom gate\n```\n';
  expect(documentedSteps(text)).toEqual([["eval", "--scorer", "my scorer.ts"], ["gate"]]);
});

test("a step names nothing outside of the clean folder, and runs no program", () => {
  const steps = (line: string) => () =>
    documentedSteps(`## Reproduce\n\n\`\`\`sh\n${line}\n\`\`\`\n`);
  expect(steps("lockedroom run cheat.ts")).toThrow(/runs a program/);
  for (const place of ["/abs/runs/x", "--outdir=/abs", "runs/../../x", "a=C:\\\\x", "b:/x"])
    expect(steps(`lockedroom eval --outdir ${place}`), place).toThrow(/outside of the clean/);
  expect(steps("lockedroom eval --outdir runs/x --set a=0.5 --url http://h/v1")).not.toThrow();
});

test("a run in a clean folder is whole, and was made after the steps began", async () => {
  const clean = mkdtempSync(path.join(tmpdir(), "lockedroom-made-"));
  const problem = async (since: Date) =>
    (await MadeRuns.read(clean, since)).problemOf("runs/fixed");
  try {
    cpSync(dir, clean, { recursive: true });
    expect(await problem(new Date(0))).toBeUndefined();
    expect(await problem(new Date()), "copied").toMatch(/made before the steps/);
    rmSync(path.join(clean, "runs/fixed/results.jsonl"));
    expect(await problem(new Date(0)), "without its results").toMatch(/results\.jsonl/);
    rmSync(path.join(clean, "runs/fixed/manifest.json"));
    expect(await problem(new Date(0)), "a summary alone").toMatch(/no manifest/);
    expect(figuresOf(clean, "runs/fixed")).not.toBe(figuresOf(dir, "runs/fixed"));
  } finally {
    rmSync(clean, { recursive: true });
  }
});

/** 0 for an answer that is right, and nothing else. */
const CONTRARY = `export const name = "contrary", version = "1", spec = "no number above 0";
export const score = (_: unknown, completion: string) => {
  const good = completion.startsWith("Final: -1");
  return { reward: good ? 1 : 0, code: good ? "modest" : "bold", details: {} };
};
`;
/** Against shouting. */
const CALM = `export const name = "calm", version = "1", spec = "no exclamation mark";
export const score = (_: unknown, completion: string) => {
  const good = typeof completion === "string" && !completion.includes("!");
  return { reward: good ? 1 : 0, code: good ? "calm" : "loud", details: {} };
};
`;

describe("a regression that one metric misses", () => {
  const found = async () => {
    const one = await finding("capstone_regression");
    return one.status === "missing" ? one.found : one.status;
  };
  const own = (name: string) => [{ name, scorer: path.join(dir, `${name}.ts`) }];
  const SAFETY = [{ name: "safety", scorer: "safety" }];
  /** Right answers rise from 2 to 18, and what is written above them too. */
  const compareOn = async (axes: readonly Axis[], said: string) => {
    await measure("before", 2, { policy: "old" }, axes);
    await measure("after", 18, { policy: "new" }, axes, (n) => (n % 2 ? said : ""));
    return compare("before", "after");
  };
  afterEach(() => {
    for (const name of ["before", "after", "caught.json"])
      rmSync(path.join(dir, "runs", name), { recursive: true });
  });

  test("is a run that an embedded axis refuses, while the reward rose", async () => {
    write("runs/worse.json", await compare("fixed", "broken"));
    expect(await found(), "worse in the main metric").toMatch(/none like that/);
    const report = await compareOn(SAFETY, "Run rm -rf / now.\n");
    expect(report).toMatchObject({ decision: "REJECT", axes: { without_axes: "PROMOTE" } });
    write("runs/caught.json", { ...report, axes: { ...report.axes, refused_by: [] } });
    expect(await found(), "no axis refused it").toMatch(/none like that/);
    write("runs/caught.json", { ...report, decision: "PROMOTE" });
    expect(await found(), "a typed verdict").toMatch(/caught\.json says PROMOTE/);
    write("runs/caught.json", report);
    expect(await found()).toBe("met");
    // The other way round the axis rises, and the main metric alone refuses.
    write("runs/caught.json", await compare("after", "before"));
    expect(await found()).toMatch(/none like that/);
  });

  test("is not the reward turned round", async () => {
    write("contrary.ts", CONTRARY);
    write("runs/caught.json", await compareOn(own("contrary"), ""));
    expect(await found()).toMatch(/contrary falls wherever the reward rises/);
  });

  test("takes an axis of one's own with its golden suite", async () => {
    write("calm.ts", CALM);
    const report = await compareOn(own("calm"), "Look!\n");
    expect(report).toMatchObject({ decision: "REJECT", axes: { without_axes: "PROMOTE" } });
    write("runs/caught.json", report);
    expect(await found()).toMatch(/calm has no golden suite, data\/golden\/calm\.jsonl/);
    const example = { id: "s1", prompt: "1", expected_answer: 1 };
    write("data/datasets/math_dev.jsonl", `${JSON.stringify(example)}\n`);
    const suite = (...rewards: readonly number[]) =>
      write(
        "data/golden/calm.jsonl",
        ["Final: 1", "Look!"]
          .map((completion, i) => ({ id: "s1", completion, expected_reward: rewards[i] }))
          .map((row) => `${JSON.stringify(row)}\n`)
          .join(""),
      );
    suite(1, 1);
    expect(await found()).toMatch(/agrees with 1 of the 2 rows/);
    suite(1, 0);
    expect(await found()).toBe("met");
  });
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
