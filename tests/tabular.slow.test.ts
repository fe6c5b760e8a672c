import { describe, expect, test } from "vitest";
import { EXIT, expectError, gate, Workspace } from "./cli.ts";

async function made(workspace: Workspace, outdir: string, args: string[]) {
  const result = await workspace.run([...args, "--outdir", outdir]);
  expect(result, result.stderr).toMatchObject({ code: EXIT.ok, stderr: "" });
  for (const line of result.stdout.split("\n"))
    expect([...line].length, line).toBeLessThanOrEqual(80);
  return { ...workspace.readRun(outdir), stdout: result.stdout };
}

const BANDIT = ["bandit-train", "--steps", "200", "--seed", "0", "--baseline"];

describe("every microscope", () => {
  test.each([
    [
      "bandit",
      [...BANDIT, "--lr", "0.5"],
      ["log.jsonl", "probabilities.svg", "probabilities.png", "reward.svg", "reward.png"],
    ],
    [
      "two-step",
      ["two-step-mdp", "--steps", "200", "--baseline"],
      ["log.jsonl", "probabilities.svg", "probabilities.png"],
    ],
    [
      "kl",
      ["kl-tradeoff-demo", "--plot"],
      ["kl_tradeoff.csv", "kl_tradeoff.svg", "kl_tradeoff.png"],
    ],
    ["goodhart", ["goodhart-demo"], ["goodhart.csv", "goodhart.svg", "goodhart.png"]],
  ])("%s writes a whole run, the same bytes again", async (_, args, files) => {
    const workspace = new Workspace();
    const { manifest } = await made(workspace, "a", args);
    await made(workspace, "b", args);
    expect(manifest.loop).toBe("C");
    const [first, second] = [workspace.snapshot("a"), workspace.snapshot("b")];
    for (const name of [...files, "summary.md", "README.md", "results.jsonl", "summary.json"]) {
      expect(first[name], name).toBeDefined();
      expect(second[name], name).toBe(first[name]);
    }
  });
});

describe("bandit-train", () => {
  test("the log is the mechanism, step by step", async () => {
    const workspace = new Workspace();
    await made(workspace, "r", [...BANDIT, "--lr", "0.5"]);
    const log = workspace
      .read("r/log.jsonl")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(log).toHaveLength(200);
    expect(Object.keys(log[0]).sort()).toEqual([
      "action",
      "advantage",
      "baseline",
      "logits_after",
      "probabilities_before",
      "reward",
      "step",
    ]);
    let [sum, baseline] = [0, 0];
    for (const { step, reward, advantage, ...entry } of log) {
      expect(entry.baseline).toBeCloseTo(baseline, 12);
      expect(advantage).toBeCloseTo(reward - baseline, 12);
      sum += reward;
      baseline = sum / step;
    }
  });

  test("learning is told from selection, and the sabotages by name", {
    timeout: 120_000,
  }, async () => {
    const workspace = new Workspace();
    await made(workspace, "untrained", ["bandit-train", "--steps", "0"]);
    await made(workspace, "trained", [...BANDIT, "--lr", "0.5"]);
    const inverted = await made(workspace, "inverted", [...BANDIT, "--lr", "-0.5"]);
    const large = await made(workspace, "large", [...BANDIT, "--lr", "2.0"]);
    expect(inverted.summary.metrics.learning_rate).toBe("inverted");
    expect(large.summary.metrics.learning_rate).toBe("too large");
    expect(workspace.read("inverted/summary.md")).toContain("a negative learning rate descends");
    const verdict = await gate(workspace, "untrained", "trained", "--claim", "policy");
    expect(verdict).toMatchObject({ decision: "PROMOTE", knobs: ["policy"] });
    expect(await gate(workspace, "untrained", "trained", "--claim", "selection")).toMatchObject({
      decision: "REJECT",
    });
    expect(await gate(workspace, "untrained", "inverted")).toMatchObject({
      decision: "REJECT",
      knobs: ["policy"],
    });
  });

  test("--slow in a pipe leaves the answers to the reader, and --reveal says what must happen", async () => {
    const workspace = new Workspace();
    const slow = ["bandit-train", "--steps", "30", "--lr", "-0.5", "--baseline", "--slow"];
    const { stdout: asked } = await made(workspace, "asked", slow);
    expect(asked.match(/^step \d+$/gm)).toHaveLength(30);
    expect(asked.match(/^ {2}advantage \? .* must go \?$/gm)).toHaveLength(30);
    expect(asked).not.toMatch(/\((positive|negative|zero)\)|→/);
    expect(asked).toContain("--reveal shows them");
    const { stdout } = await made(workspace, "r", [...slow, "--reveal"]);
    expect(stdout.match(/expected: the probability/g)).toHaveLength(30);
    expect(stdout.match(/^step \d+$/gm)).toHaveLength(30);
    for (const [, sign, verb, from, to] of stdout.matchAll(
      /\((positive|negative|zero)\)\n {2}expected: the probability of \w (goes up|goes down|stays unchanged): (\S+) → (\S+)/g,
    )) {
      expect(verb).toBe(
        { positive: "goes down", negative: "goes up", zero: "stays unchanged" }[sign as "zero"],
      );
      expect(Math.sign(Number(to) - Number(from))).toBe(
        { positive: -1, negative: 1, zero: 0 }[sign as "zero"],
      );
    }
  });

  test("--seeds shows that a baseline lowers the variance and not the mean", async () => {
    const { summary } = await made(new Workspace(), "r", [
      ...BANDIT,
      "--lr",
      "0.5",
      "--seeds",
      "20",
    ]);
    const seeds = summary.metrics.seeds as Record<
      string,
      { measured: { variance: number }; exact: { mean: number[] } }
    >;
    expect(seeds.update_with_baseline?.measured.variance).toBeLessThan(
      0.7 * (seeds.update_without_baseline?.measured.variance as number),
    );
  });
});

test("evaluations meet the same luck: where two policies do the same, they earn the same", async () => {
  const workspace = new Workspace();
  for (const [kind, one, two] of [
    [
      "bandit",
      ["bandit-train", "--steps", "20", "--seed", "1"],
      ["bandit-train", "--steps", "60", "--seed", "2"],
    ],
    [
      "two",
      ["two-step-mdp", "--steps", "20", "--seed", "1"],
      ["two-step-mdp", "--steps", "60", "--seed", "2"],
    ],
  ] as const) {
    const [a, b] = [
      await made(workspace, `${kind}1`, [...one]),
      await made(workspace, `${kind}2`, [...two]),
    ];
    const same = a.rows.filter((row, i) => row.completion === b.rows[i]?.completion);
    expect(same.length).toBeGreaterThan(100);
    expect(same.length).toBeLessThan(500);
    for (const row of same) expect(row.reward).toBe(b.rows.find(({ id }) => id === row.id)?.reward);
  }
});

test("two-step-mdp: without credit the first decision never learns, and the summary shows it", async () => {
  const workspace = new Workspace();
  const both = await made(workspace, "both", ["two-step-mdp", "--steps", "200", "--baseline"]);
  const last = await made(workspace, "last", [
    "two-step-mdp",
    "--steps",
    "200",
    "--baseline",
    "--credit",
    "last",
  ]);
  expect(both.summary.metrics.first_decision_learned).toBe(true);
  expect(last.summary.metrics).toMatchObject({
    first_decision_learned: false,
    first_probabilities: [0.5, 0.5],
  });
  expect(workspace.read("last/summary.md")).toContain("never learned");
  expect(await gate(workspace, "last", "both")).toMatchObject({
    decision: "PROMOTE",
    knobs: ["policy"],
  });
});

test("kl-tradeoff-demo: reward and drift both rise as the KL penalty shrinks, in the CSV too", async () => {
  const workspace = new Workspace();
  await made(workspace, "r", ["kl-tradeoff-demo"]);
  const [header, ...lines] = workspace.read("r/kl_tradeoff.csv").trimEnd().split("\n");
  expect(header).toBe("beta,expected_reward,kl,entropy,objective");
  const points = lines.map(
    (line) => line.split(",").map(Number) as [number, number, number, number, number],
  );
  for (const [i, [beta, reward, kl, , objective]] of points.entries()) {
    expect(objective).toBeCloseTo(reward - beta * kl, 12);
    const before = points[i - 1];
    if (!before) continue;
    expect(beta).toBeLessThan(before[0]);
    expect(reward).toBeGreaterThan(before[1]);
    expect(kl).toBeGreaterThan(before[2]);
  }
  expect(workspace.has("r/kl_tradeoff.png")).toBe(false);
});

test("kl-tradeoff-demo --plot: every β stands beside its point, or with those it lies on", async () => {
  const workspace = new Workspace();
  await made(workspace, "r", ["kl-tradeoff-demo", "--plot"]);
  const [, ...lines] = workspace.read("r/kl_tradeoff.csv").trimEnd().split("\n");
  const labels = /<g [^>]*paint-order.*?<\/g>/.exec(workspace.read("r/kl_tradeoff.svg"))?.[0] ?? "";
  const said = [...labels.matchAll(/>([^<]+)</g)].map(([, text]) => text).join(", ");
  expect(said.split(", ")).toEqual(lines.map((line) => line.split(",")[0]));
});

test("kl-choice chooses for 0.1, 1.0 and 0, and for what is asked", async () => {
  const workspace = new Workspace();
  const { stdout } = await workspace.run(["kl-choice"]);
  expect(stdout).toMatch(
    /beta 0\.1 +chooses bold[\s\S]*beta 1 +chooses polished[\s\S]*beta 0 +chooses hack/,
  );
  expect((await workspace.run(["kl-choice", "--beta", "0.5", "2"])).stdout).toMatch(
    /beta 0\.5[\s\S]*beta 2 /,
  );
});

test("goodhart-demo: five hacks of the optimiser's own, proxy up and truth down, then patched", async () => {
  const workspace = new Workspace();
  const { summary, stdout } = await made(workspace, "r", ["goodhart-demo"]);
  const {
    naive,
    patched,
    hacks_found: hacks,
  } = summary.metrics as unknown as Record<
    "naive" | "patched",
    { proxy_reward: number; true_reward: number }[]
  > & { hacks_found: number };
  expect(hacks).toBe(5);
  expect(naive.at(-1)?.proxy_reward).toBeGreaterThan(0.9);
  expect(naive.at(-1)?.true_reward).toBeLessThan(0.05);
  expect(Math.max(...naive.map((p) => p.true_reward))).toBeGreaterThan(
    (naive[0]?.true_reward as number) + 0.1,
  );
  expect(patched.at(-1)?.true_reward).toBeGreaterThan(0.5);
  expect(stdout.match(/^ {2}expected +-?\d+ {2}/gm)).toHaveLength(5);
  const [header, ...lines] = workspace.read("r/goodhart.csv").trimEnd().split("\n");
  expect(header).toBe("verifier,pressure,proxy_reward,true_reward");
  const last = lines
    .findLast((line) => line.startsWith("naive,320,"))
    ?.split(",")
    .map(Number);
  const { rows } = workspace.readRun("r");
  const mean = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  expect(last?.[2]).toBeCloseTo(
    mean(({ completion, expected_answer }) =>
      Number(new Set<string>(completion?.match(/-?\d+/g)).has(String(expected_answer))),
    ),
    12,
  );
  expect(last?.[3]).toBeCloseTo(
    mean(({ reward }) => reward ?? 0),
    12,
  );
});

test.each([
  [["bandit-train", "--steps", "5", "--lr", "NaN"], "finite number"],
  [["bandit-train", "--steps", "5", "--lr", "Infinity"], "finite number"],
  [["bandit-train", "--steps", "5", "--lr", "-Infinity"], "finite number"],
  [["bandit-train", "--steps", "-1"], "whole number"],
  [["bandit-train", "--steps", "5", "--seeds", "1"], "whole number from 2"],
  [["bandit-train"], "required option '--steps"],
  [["two-step-mdp", "--steps", "5", "--credit", "first"], "both"],
  [["kl-choice", "--beta", "NaN"], "from 0 up"],
])("%j is wrong usage", async (args, message) => {
  const workspace = new Workspace();
  const flags = args[0] === "kl-choice" ? [] : ["--outdir", "r"];
  expectError(await workspace.run([...args, ...flags]), EXIT.usage, message);
  expect(workspace.has("r")).toBe(false);
});
