/** Every command that is given a folder of another kind says which kind it is, and what to do with it. */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { main } from "../src/cli/main.ts";
import { aRun, type RunKind } from "../src/runs/kinds.ts";
import { DEV, EXIT, FROZEN } from "./cli.ts";
import { RUN_KINDS, writeFolder } from "./fixtures/run-folders.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-kinds-"));
afterAll(() => rmSync(root, { recursive: true }));

const OTHERS = {
  ...{ sweep: "sweep.json", matrix: "matrix.json" },
  ...{ checkpoint: "config.json", adapter: "adapter_config.json" },
};
type Other = keyof typeof OTHERS;
type Kind = RunKind | Other;
const KINDS = [...RUN_KINDS, ...(Object.keys(OTHERS) as Other[])];
const SCORED: readonly Kind[] = ["eval", "select", "experiment"];

const folderOf = (kind: Kind) => path.join(root, `a-${kind}`);
for (const kind of RUN_KINDS) writeFolder(folderOf(kind), kind, "finished");
for (const [kind, file] of Object.entries(OTHERS)) {
  mkdirSync(folderOf(kind as Other));
  writeFileSync(path.join(folderOf(kind as Other), file), "{}");
}
const baseline = folderOf("eval");
const outdir = ["--outdir", path.join(root, "out")];
const page = ["--outfile", path.join(root, "page.html")];
const trained = ["--steps", "1", ...outdir];
const sampled = ["--n", "1", ...outdir];

/** The arguments of each command with a folder in them, and the kinds that belong there. */
const COMMANDS: Record<string, [args: (folder: string) => string[], right: readonly Kind[]]> = {
  "inspect-run --run": [(it) => ["inspect-run", "--run", it], SCORED],
  "gate --baseline": [(it) => ["gate", "--baseline", it, "--candidate", baseline], SCORED],
  "gate --candidate": [(it) => ["gate", "--baseline", it, "--candidate", it], SCORED],
  "report --run": [(it) => ["report", "--run", it, ...page], [...RUN_KINDS, "matrix"]],
  "report --baseline": [
    (it) => ["report", "--baseline", it, "--candidate", baseline, ...page],
    SCORED,
  ],
  "eval --dataset": [(it) => ["eval", "--dataset", it, "--completions", FROZEN, ...outdir], []],
  "eval --completions": [(it) => ["eval", "--dataset", DEV, "--completions", it, ...outdir], []],
  "selection-demo --samples": [
    (it) => ["selection-demo", "--dataset", DEV, "--samples", it, "--n", "2", ...outdir],
    [],
  ],
  "pairs --rollouts": [(it) => ["pairs", "--dataset", DEV, "--rollouts", it, ...outdir], []],
  "review --baseline": [
    (it) => ["review", "--baseline", it, "--candidate", it, ...outdir],
    ["rollout"],
  ],
  "review --summary": [(it) => ["review", "--summary", "--outdir", it], ["review"]],
  "rollout --dataset": [(it) => ["rollout", "--policy", "pi0", "--dataset", it, ...sampled], []],
  "rollout --policy": [
    (it) => ["rollout", "--policy", it, "--dataset", DEV, ...sampled],
    ["checkpoint"],
  ],
  "serve --policy": [(it) => ["serve", "--policy", it], ["checkpoint"]],
  "policy show": [(it) => ["policy", "show", it], ["checkpoint", "adapter"]],
  "policy export": [(it) => ["policy", "export", it, "--outfile", "x.onnx"], ["checkpoint"]],
  "policy merge": [(it) => ["policy", "merge", "pi0", it, ...outdir], ["adapter"]],
  "train --init": [
    (it) => ["train", "grpo", "--init", it, "--dataset", DEV, ...trained],
    ["checkpoint"],
  ],
  "train --dataset": [(it) => ["train", "grpo", "--init", "pi0", "--dataset", it, ...trained], []],
  "sweep --init": [
    (it) =>
      ["sweep", "grpo", "--init", it, "--dataset", DEV, "--dev", DEV].concat(
        ["--over", "kl.coefficient=0,1", "--set", "kl.mode=fixed"],
        trained,
      ),
    ["checkpoint"],
  ],
  "validate-scorer --golden": [
    (it) => ["validate-scorer", "--scorer", "math_final_line", "--dataset", DEV, "--golden", it],
    [],
  ],
};

let said = "";
beforeEach(() => {
  said = "";
  vi.spyOn(process.stdout, "write").mockImplementation(() => true);
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

const what = (kind: Kind) =>
  kind in OTHERS ? (kind === "adapter" ? "an adapter" : `a ${kind}`) : aRun(kind as RunKind);

test.each(Object.keys(COMMANDS))("%s", async (name) => {
  const [args, right] = COMMANDS[name] as (typeof COMMANDS)[string];
  for (const kind of KINDS.filter((one) => !right.includes(one))) {
    said = "";
    expect(await main(args(folderOf(kind))), `${kind}: ${said}`).toBe(EXIT.data);
    const [message = "", next = ""] = said.split(/\n {2}(?! )/);
    expect(message.replaceAll(/\s+/g, " "), said).toContain(`a-${kind} is ${what(kind)}, not a`);
    expect(next, "a next step").toMatch(/\S+ \S+/);
    expect(readdirSync(root), "nothing was written").not.toContain("out");
  }
});
