/** Workspaces: how they begin, what commands make of them, and what happens when they are damaged. */

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { createJiti } from "jiti";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as builtIn from "../src/scorers/math-final-line.ts";
import { BIN, EXIT, ROOT } from "./cli.ts";
import { Learner } from "./track/learner.ts";

const made: Learner[] = [];
let pristine: Learner;
beforeAll(() => {
  pristine = Learner.begin();
});
afterAll(() => {
  for (const learner of [pristine, ...made]) learner?.leave();
});

function workspace(): Learner {
  const learner = pristine.copy();
  made.push(learner);
  return learner;
}

const EVAL =
  "eval --dataset data/datasets/math_dev.jsonl --completions data/rollouts/frozen_rollouts_dev.jsonl";
const SELECT =
  "selection-demo --dataset data/datasets/math_dev.jsonl --samples data/rollouts/selection_pack_dev.jsonl --n 4";

/** Everything in a folder but git's own files, by path. */
function contents(learner: Learner): Record<string, string> {
  const names = readdirSync(learner.dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(learner.dir, path.join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith(".git/") && !name.startsWith("node_modules"));
  return Object.fromEntries(names.map((name) => [name, learner.read(name)]));
}

test("init makes a clean repository with one commit, everything the levels name, and the data", () => {
  expect(pristine.shell("git status --porcelain")).toBe("");
  expect(pristine.shell("git log --format=%s")).toBe("Start\n");
  const names = Object.keys(contents(pristine));
  for (const name of [
    "kata_01",
    "selection_policy",
    "two_step_mdp_demo",
    "kl_regularized_choice",
    "hackable_scorer_demo",
  ]) {
    expect(names).toContain(`assignments/${name}.ts`);
  }
  for (const name of ["datasets/math_dev.jsonl", "golden/golden_exploits.jsonl"]) {
    expect(pristine.read(`data/${name}`)).toBe(readFileSync(path.join(ROOT, "data", name), "utf8"));
  }
  expect(pristine.shell("npm test 2>&1")).toContain("pass 2");
});

test.each([
  ["two_step_mdp_demo.ts --outdir runs/half", "train", 2],
  ["kl_regularized_choice.ts", "choose", 3],
  ["hackable_scorer_demo.ts", "naive", 5],
])("%s, not written yet, is one sentence and the next command, no stack", (...args) => {
  const [program, name, level] = args;
  const { status, stdout, stderr } = pristine.try(`run assignments/${program}`);
  expect({ status, stdout, stderr }).toEqual({
    ...{ status: 65, stdout: "" },
    stderr: `${name} is not written yet\nNext: ./lockedroom level ${level} --next\n`,
  });
  rmSync(pristine.file("runs/half"), { recursive: true, force: true });
});

test("nothing in a workspace names the machine that made it", () => {
  for (const [name, text] of Object.entries(contents(pristine))) {
    expect(text, name).not.toContain(ROOT.replace(/\/$/, ""));
  }
});

test("the ejected scorer rewards and codes like the built-in one", async () => {
  const file = path.join(ROOT, "templates/workspace/scoring.ts");
  const ejected = await createJiti(import.meta.url).import<typeof builtIn>(file);
  expect(ejected.SCORER_NAME).toBe(builtIn.SCORER_NAME);
  expect(ejected.SCORER_VERSION).toBe(builtIn.SCORER_VERSION);
  expect(ejected.REWARD_SPEC).toBe(builtIn.REWARD_SPEC);
  const same = (answer: unknown, text: string) => {
    const example = { id: "x", prompt: "", expected_answer: answer } as never;
    const [a, b] = [ejected.score(example, text), builtIn.score(example, text)];
    expect([a.reward, a.code]).toEqual([b.reward, b.code]);
  };
  for (const suite of ["golden_correct", "golden_exploits"]) {
    for (const line of readFileSync(path.join(ROOT, `data/golden/${suite}.jsonl`), "utf8")
      .trim()
      .split("\n")) {
      same(42, JSON.parse(line).completion);
    }
  }
  const near = fc
    .array(fc.constantFrom("Final:", " ", "\n", "-", "+", "0", "4", "42", "\u00a0", "４"), {
      maxLength: 6,
    })
    .map((parts) => parts.join(""));
  fc.assert(fc.property(fc.oneof(fc.integer(), fc.string()), fc.oneof(near, fc.string()), same), {
    numRuns: 2000,
    seed: 1,
  });
});

test("commands in a workspace use its scorer and its policy, from any folder in it", () => {
  const learner = workspace();
  learner.edit("scoring.ts", '"1.0.0"', '"7.0.0"');
  learner.do(`${EVAL} --outdir runs/a --quiet`);
  learner.do(`${SELECT} --outdir runs/b --quiet`);
  const [a, b] = ["a", "b"].map((run) => JSON.parse(learner.read(`runs/${run}/manifest.json`)));
  expect(a.scorer).toMatchObject({ version: "7.0.0", path: "scoring.ts" });
  expect(a.scorer.source_sha256).toBe(learner.shell("sha256sum < scoring.ts").slice(0, 64));
  expect(b.selection.source_sha256).toBe(
    learner.shell("sha256sum < assignments/selection_policy.ts").slice(0, 64),
  );
  learner.shell(
    `cd notes && ../lockedroom ${EVAL.replaceAll("data/", "../data/")} --outdir ../runs/c --quiet`,
  );
  expect(JSON.parse(learner.read("runs/c/manifest.json")).scorer).toMatchObject({
    version: "7.0.0",
    path: "../scoring.ts",
  });
  learner.do(`${EVAL} --scorer math_final_line --outdir runs/d --quiet`);
  expect(JSON.parse(learner.read("runs/d/manifest.json")).scorer.version).toBe("1.0.0");
  learner.do(`${SELECT} --rule majority --outdir runs/e --quiet`);
  expect(JSON.parse(learner.read("runs/e/manifest.json")).selection.rule).toBe("majority");
});

test("init on a workspace restores what is missing and touches nothing else", () => {
  const learner = workspace();
  learner.edit("scoring.ts", '"1.0.0"', '"7.0.0"');
  learner.write("notes/mine.md", "mine");
  const before = contents(learner);
  rmSync(learner.file("notes/kl_tradeoff.md"));
  rmSync(learner.file("data"), { recursive: true });
  rmSync(learner.file("node_modules"), { recursive: true });
  const said = learner.do("init .");
  expect(said).toContain("notes/kl_tradeoff.md");
  expect(contents(learner)).toEqual(before);
  expect(lstatSync(learner.file("node_modules/lockedroom")).isSymbolicLink()).toBe(true);
  expect(learner.do("init .")).toContain("is complete");
});

test("init refuses a folder with other things in it, and a file, and changes nothing", () => {
  const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-occupied-"));
  writeFileSync(path.join(dir, "thesis.tex"), "years of work");
  const refused = spawnSync(process.execPath, [BIN, "init", dir], { encoding: "utf8" });
  expect(refused.status).toBe(EXIT.usage);
  expect(refused.stderr).toContain("thesis.tex");
  expect(readdirSync(dir)).toEqual(["thesis.tex"]);
  const file = spawnSync(process.execPath, [BIN, "init", path.join(dir, "thesis.tex")], {
    encoding: "utf8",
  });
  expect(file.status).toBe(EXIT.usage);
  expect(file.stderr).toMatch(/is a file/);
  rmSync(dir, { recursive: true });
});

test("init adopts the package.json that npm init made", () => {
  const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-npm-"));
  writeFileSync(
    path.join(dir, "package.json"),
    '{"name":"mine","scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}',
  );
  execFileSync(process.execPath, [BIN, "init", dir]);
  const { name, type, scripts } = JSON.parse(readFileSync(path.join(dir, "package.json"), "utf8"));
  expect({ name, type, scripts }).toEqual({
    name: "mine",
    type: "module",
    scripts: { test: "node ./lockedroom test" },
  });
  rmSync(dir, { recursive: true });
});

test.skipIf(process.getuid?.() === 0)("init in a folder that cannot be written says so", () => {
  const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-readonly-"));
  chmodSync(dir, 0o500);
  const { status, stderr } = spawnSync(process.execPath, [BIN, "init", path.join(dir, "room")], {
    encoding: "utf8",
  });
  expect(status).toBe(EXIT.usage);
  expect(stderr).toContain("make the workspace");
});

type Damage = readonly [name: string, code: number, says: RegExp, harm: (learner: Learner) => void];

const DAMAGE: readonly Damage[] = [
  [
    "no marker",
    EXIT.usage,
    /no lockedroom.json here or above[\s\S]*git checkout/,
    (l) => rmSync(l.file("lockedroom.json")),
  ],
  [
    "a marker in conflict",
    EXIT.data,
    /lockedroom.json is damaged[\s\S]*git checkout/,
    (l) => l.write("lockedroom.json", "<<<<<<< HEAD\n{}\n"),
  ],
  [
    "a marker that points outside",
    EXIT.data,
    /inside the workspace/,
    (l) => l.edit("lockedroom.json", '"scoring.ts"', '"../scoring.ts"'),
  ],
  [
    "no git",
    EXIT.data,
    /no git\s+repository[\s\S]*git\s+init/,
    (l) => rmSync(l.file(".git"), { recursive: true }),
  ],
  [
    "a repository without a commit",
    EXIT.data,
    /cannot read the history/,
    (l) => {
      rmSync(l.file(".git"), { recursive: true });
      l.shell("git init -q");
    },
  ],
  [
    "a damaged repository",
    EXIT.data,
    /cannot read the history/,
    (l) => l.write(".git/HEAD", "nonsense"),
  ],
  ["a merge in conflict", EXIT.data, /conflicts in scoring.ts[\s\S]*Resolve/, (l) => conflict(l)],
];

function conflict(learner: Learner): void {
  learner.shell("git checkout -q -b other");
  learner.edit("scoring.ts", '"1.0.0"', '"2.0.0"');
  learner.commit("other");
  learner.shell("git checkout -q main");
  learner.edit("scoring.ts", '"1.0.0"', '"3.0.0"');
  learner.commit("main");
  learner.shell("git -c user.name=A -c user.email=a@b merge other || true");
}

test.each(DAMAGE)(
  "check in a workspace with %s: a sentence, and nothing lost",
  (_, code, says, harm) => {
    const learner = workspace();
    harm(learner);
    const before = contents(learner);
    for (const command of ["check 0", "level 0 --next", "quiz 0"]) {
      const { status, stdout, stderr } = learner.try(command);
      expect({ command, status, stdout }).toEqual({ command, status: code, stdout: "" });
      expect(stderr).toMatch(says);
      expect(stderr.split("\n").filter((line) => line.length > 80)).toEqual([]);
    }
    expect(contents(learner)).toEqual(before);
  },
);

test("a missing scorer, and a half-written run, are named by the check", () => {
  const learner = workspace();
  rmSync(learner.file("scoring.ts"));
  expect(learner.try(`${EVAL} --outdir runs/a`)).toMatchObject({ status: EXIT.usage });
  expect(learner.try(`${EVAL} --outdir runs/a`).stderr).toContain('no scorer "scoring.ts"');
  mkdirSync(learner.file("runs/l0_build_eval"));
  writeFileSync(learner.file("runs/l0_build_eval/results.jsonl.partial"), "{");
  const { stdout } = learner.try("check 0");
  expect(stdout).toContain("unfinished");
  expect(existsSync(learner.file("runs/l0_build_eval/results.jsonl.partial"))).toBe(true);
});

test("without git on the path the commands say what to install", () => {
  const learner = workspace();
  const { status, stderr } = spawnSync(process.execPath, [BIN, "check", "0"], {
    cwd: learner.dir,
    env: { PATH: "/nowhere" },
    encoding: "utf8",
  });
  expect(status).toBe(EXIT.usage);
  expect(stderr).toContain("git was not found");
  const dir = path.join(path.dirname(learner.dir), "without-git");
  const init = spawnSync(process.execPath, [BIN, "init", dir], {
    env: { PATH: "/nowhere" },
    encoding: "utf8",
  });
  expect(init.status).toBe(0);
  expect(init.stdout).toContain("git was not found");
  expect(existsSync(path.join(dir, "scoring.ts"))).toBe(true);
});

test("run passes arguments on, and its exit code back", () => {
  const learner = workspace();
  learner.write(
    "p.ts",
    'import { softmax } from "lockedroom/learn";\nconst v: number[] = softmax([0, 0]) as number[];\nconsole.log(v[0], ...process.argv.slice(2));\nprocess.exitCode = 7;\n',
  );
  expect(learner.try("run p.ts --steps 3 --help")).toMatchObject({
    status: 7,
    stdout: "0.5 --steps 3 --help\n",
  });
  expect(learner.try("run nothing.ts")).toMatchObject({ status: EXIT.usage });
});

test("a link that is broken or gone is made again", () => {
  const learner = workspace();
  const link = learner.file("node_modules/lockedroom");
  rmSync(link);
  symlinkSync("/nowhere", link);
  learner.write(
    "p.ts",
    'import { softmax } from "lockedroom/learn";\nconsole.log(softmax([0]).length);\n',
  );
  expect(learner.do("run p.ts")).toBe("1\n");
});

test("test fails when a test does, and says when there are none", () => {
  const learner = workspace();
  learner.edit("tests/scoring.test.ts", ".reward, 1)", ".reward, 0)");
  expect(learner.try("test")).toMatchObject({ status: 1 });
  rmSync(learner.file("tests"), { recursive: true });
  expect(learner.try("test")).toMatchObject({ status: EXIT.usage });
});

test("level shows every level, fits the screen, and offers the levels when it is given nonsense", () => {
  const learner = workspace();
  for (const id of ["", "0", "0.5", "1", "2", "3", "4", "5", "6", "7"]) {
    const shown = learner.do(`level ${id}`);
    expect(shown.split("\n").filter((line) => [...line].length > 80)).toEqual([]);
  }
  const { status, stderr } = learner.try("level 8");
  expect(status).toBe(EXIT.usage);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    "0, 0.5, 1, 2, 3, 4, 5, 6, and 7, which is extra",
  );
  const all = learner.try("check");
  expect(all.status).toBe(1);
  expect(all.stdout).toContain(
    "0 of 8 levels passed.\nLevels 0 to 6 are the track. Level 7 is extra: not started.",
  );
});
