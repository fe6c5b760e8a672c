import { expect, test } from "vitest";
import { api, ROOT, Workspace } from "./cli.ts";

test("a learning run names the scorer that scored its rows, and its proxy among the settings", async () => {
  const workspace = new Workspace();
  expect((await workspace.run(["goodhart-demo", "--quiet", "--outdir", "r"])).code).toBe(0);
  const { manifest } = workspace.readRun("r");
  const { identity } = await api.loadScorer();
  expect(manifest.scorer).toEqual(identity);
  expect(manifest.learning).toMatchObject({ proxy: { name: "naive_integer_anywhere" } });
  const rows = workspace.readRun("r").rows;
  for (const row of rows) expect(api.OUTCOME_CODES).toContain(row.outcome_code);
});

test("eval against selection against learning: the gate does not call every difference selection", async () => {
  const workspace = new Workspace();
  const data = [`--dataset=${ROOT}data/datasets/math_dev.jsonl`];
  await workspace.run([
    "eval",
    "--quiet",
    ...data,
    `--completions=${ROOT}data/rollouts/frozen_rollouts_dev.jsonl`,
    "--outdir",
    "eval",
  ]);
  await workspace.run([
    "selection-demo",
    "--quiet",
    ...data,
    `--samples=${ROOT}data/rollouts/selection_pack_dev.jsonl`,
    "--n",
    "4",
    "--outdir",
    "select",
  ]);
  await workspace.run(["bandit-train", "--quiet", "--steps", "10", "--outdir", "learn"]);
  for (const candidate of ["select", "learn"]) {
    const { stdout } = await workspace.run([
      "gate",
      "--baseline",
      "eval",
      "--candidate",
      candidate,
      "--format",
      "json",
    ]);
    expect(JSON.parse(stdout).decision).toBe("REJECT");
    expect(stdout).not.toContain("distribution is unchanged");
  }
});

test("a rule that counts parsed answers refuses a scorer that gives none", async () => {
  const workspace = new Workspace();
  workspace.jsonl("d.jsonl", [{ id: "a", prompt: "p", expected_answer: "x" }]);
  workspace.jsonl("p.jsonl", [
    { id: "a", samples: ["x", "y", { completion: "y", sum_logprob: -1, sum_ref_logprob: -3 }] },
  ]);
  workspace.write(
    "s.ts",
    "export const name = 's', version = '1', spec = 's';\nexport const score = (e, c) => ({ reward: c === 'y' ? 1 : 0, code: 'c', details: {} });",
  );
  const flags = ["--dataset", "d.jsonl", "--samples", "p.jsonl", "--scorer", "s.ts", "--n", "3"];
  const refused = await workspace.run([
    "selection-demo",
    ...flags,
    "--outdir",
    "m",
    "--rule",
    "majority",
  ]);
  expect(refused.code).toBe(64);
  expect(refused.stderr).toContain("details.parsed");
  expect((await workspace.run(["selection-demo", ...flags, "--outdir", "r"])).code).toBe(0);
  expect(workspace.readRun("r").rows[0]).toMatchObject({
    sum_logprob: -1,
    sum_ref_logprob: -3,
    kl_est: 2,
  });
});

test("the note that the gain is an upper bound is for best-of-N alone", async () => {
  const workspace = new Workspace();
  const select = (n: string, rule: string) =>
    workspace.run([
      "selection-demo",
      "--quiet",
      `--dataset=${ROOT}data/datasets/math_dev.jsonl`,
      `--samples=${ROOT}data/rollouts/selection_pack_dev.jsonl`,
      "--n",
      n,
      "--rule",
      rule,
      "--outdir",
      `${rule}${n}`,
    ]);
  for (const rule of ["best", "first-valid"]) {
    await select("1", rule);
    await select("4", rule);
    const { stdout } = await workspace.run([
      "gate",
      "--baseline",
      `${rule}1`,
      "--candidate",
      `${rule}4`,
    ]);
    expect(/upper\s+bound/.test(stdout), rule).toBe(rule === "best");
  }
});
