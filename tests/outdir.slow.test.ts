/** Where a run may be written, and what is never lost: finished runs, people's notes, other files. */

import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  BIN,
  DEV,
  describeRun,
  EXIT,
  expectError,
  type Finished,
  FROZEN,
  type Surroundings,
  scorerSource,
  start,
  sums,
  Workspace,
} from "./cli.ts";

const NOBODY = { uid: 65534 };
const ONLY_ROOT = "only root can become somebody who may not";

describe.concurrent("a finished run", () => {
  test("is refused without --force, and untouched", async () => {
    const workspace = sums(4);
    await workspace.prepare("run");
    const before = workspace.snapshot("run");
    const writtenAt = statSync(workspace.path("run/summary.json")).mtimeMs;
    workspace.jsonl("c.jsonl", [{ id: "s0", completion: "Final: 7" }]);
    const result = await workspace.eval("run");
    expectError(result, EXIT.usage, /run already holds a finished evaluation/, /--force/);
    expect(workspace.snapshot("run")).toEqual(before);
    expect(statSync(workspace.path("run/summary.json")).mtimeMs).toBe(writtenAt);
  });

  test("is replaced with --force, and other people's files stay", async () => {
    const workspace = sums(4);
    const before = await workspace.prepare("run");
    workspace.write("run/plot.svg", "<svg/>");
    workspace.jsonl("c.jsonl", [{ id: "s0", completion: "Final: 7" }]);
    const after = await workspace.made("run", ["--force"]);
    expect(after.results).not.toBe(before.results);
    expect(after.summary.metrics).toMatchObject({ n_scored: 1, n_pass: 0, n_missing: 3 });
    expect(readdirSync(workspace.path("run")).sort()).toEqual(
      [
        "README.md",
        "manifest.json",
        "plot.svg",
        "results.jsonl",
        "summary.json",
        "summary.md",
      ].sort(),
    );
  });

  test("leaves a person's note beside the new one", async () => {
    const workspace = sums(2);
    await workspace.prepare("run");
    for (const [round, words] of [
      [1, "I expected 1.0."],
      [2, "Again."],
    ] as const) {
      const note = workspace.read("run", "README.md").replace("_yours to write_", words);
      expect(note).toContain(words);
      workspace.write("run/README.md", note);
      await workspace.made("run", ["--force"]);
      expect(workspace.read("run", `README.kept-${round}.md`)).toBe(note);
      expect(workspace.read("run", "README.md")).not.toContain(words);
    }
    await workspace.made("run", ["--force"]);
    expect(workspace.has("run", "README.kept-3.md"), "an untouched note is not kept").toBe(false);
    expect(workspace.read("run", "README.kept-1.md")).toContain("I expected 1.0.");
  });

  test.each<[name: string, spoil: (workspace: Workspace) => string[], code: number]>([
    [
      "a bad last line",
      (w) => ["--dataset", w.write("x.jsonl", `${w.read("d.jsonl")}{oops}\n`)],
      EXIT.data,
    ],
    ["a missing file", () => ["--completions", "nowhere.jsonl"], EXIT.data],
    ["a missing scorer", () => ["--scorer", "nowhere.ts"], EXIT.usage],
    ["a scorer that does not load", (w) => ["--scorer", w.write("s.ts", "export {")], EXIT.data],
    [
      "a scorer that ends its thread",
      (w) => [
        "--jobs",
        "2",
        "--scorer",
        w.write("s.ts", scorerSource('process.exit(0); return { reward: 1, code: "x" };')),
      ],
      EXIT.data,
    ],
  ])("is still whole after --force with %s", async (_, spoil, code) => {
    const workspace = sums(3);
    await workspace.prepare("run");
    workspace.write("run/README.md", "all mine");
    const before = workspace.snapshot("run");
    expectError(await workspace.eval("run", ["--force", ...spoil(workspace)]), code);
    expect(workspace.snapshot("run")).toEqual(before);
  });
});

describe.concurrent("any other folder", () => {
  test.each([
    ["people's files", { "thesis.tex": "\\section{}" }],
    ["somebody else's summary.json", { "summary.json": '{"metrics": {}}' }],
    ["a summary.json that is no JSON", { "summary.json": "not json", "manifest.json": "{}" }],
  ])("that holds %s is never touched, not even with --force", async (_, files) => {
    const workspace = sums(1);
    for (const [name, text] of Object.entries(files)) workspace.write(`mine/${name}`, text);
    for (const flags of [[], ["--force"]]) {
      expectError(await workspace.eval("mine", flags), EXIT.usage, /mine is not empty/);
      expect(workspace.snapshot("mine")).toEqual(files);
    }
  });

  test("that is empty is used, and is still there when the run fails", async () => {
    const workspace = sums(1);
    mkdirSync(workspace.path("empty"));
    expectError(await workspace.eval("empty", ["--dataset", "nowhere.jsonl"]), EXIT.data);
    expect(workspace.has("empty"), "it was not ours to remove").toBe(true);
    await workspace.made("empty");
  });

  test("that is new goes away again when the run fails, with the folders made for it", async () => {
    const workspace = sums(1);
    expectError(await workspace.eval("a/b/c", ["--dataset", "nowhere.jsonl"]), EXIT.data);
    expect(workspace.has("a")).toBe(false);
    await workspace.made("a/b/c");
  });

  test("that is a file", async () => {
    const workspace = sums(1);
    workspace.write("file", "text");
    for (const flags of [[], ["--force"]]) {
      expectError(await workspace.eval("file", flags), EXIT.usage, /file.*is a file|not a folder/);
    }
    expect(workspace.read("file")).toBe("text");
  });

  test("that would be under a file", async () => {
    const workspace = sums(1);
    workspace.write("file", "text");
    const result = await workspace.eval("file/run");
    expectError(result, EXIT.usage, /file\/run: a part of the path is a file/);
  });

  test("that may not be written", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip(ONLY_ROOT);
    const workspace = sums(1);
    chmodSync(workspace.dir, 0o755);
    expectError(await workspace.eval("run", [], NOBODY), EXIT.usage, /run: permission denied/);
    expect(readdirSync(workspace.dir).sort()).toEqual(["c.jsonl", "d.jsonl"]);
  });
});

describe.concurrent("the tour's folder", () => {
  const tour = (workspace: Workspace, outdir: string, surroundings?: Surroundings) =>
    workspace.run(["tour", "--outdir", outdir], surroundings);

  test("under a file", async () => {
    const workspace = sums(1);
    workspace.write("file", "text");
    expectError(await tour(workspace, "file/tour"), [EXIT.usage, EXIT.io], /file\/tour/);
  });

  test("that may not be written", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip(ONLY_ROOT);
    const workspace = sums(1);
    chmodSync(workspace.dir, 0o755);
    const result = await tour(workspace, "tour", NOBODY);
    expectError(result, [EXIT.usage, EXIT.io], /tour: permission denied/);
  });

  test("that is somebody else's is never touched", async () => {
    const workspace = sums(1);
    workspace.write("mine/thesis.tex", "text");
    expectError(await tour(workspace, "mine"), EXIT.usage, /mine exists/);
    expect(workspace.snapshot("mine")).toEqual({ "thesis.tex": "text" });
  });

  test("on a full disk", async ({ skip }) => {
    const [workspace, result] = await onSmallDisk(
      "48k",
      "step tour lockedroom tour --outdir disk/tour",
    );
    if (result.code === 99) skip(UNMOUNTABLE);
    const { code, stderr } = said(workspace, result, "tour");
    expectError({ code, stderr, stdout: "", signal: null }, EXIT.io, /the disk is full/);
  });
});

/**
 * A shell in a namespace of its own, where `disk` is a tiny file system that vanishes with it.
 * Each step prints `name=exit code`; what the command says goes to files beside the disk.
 */
async function onSmallDisk(size: string, script: string): Promise<[Workspace, Finished]> {
  const workspace = new Workspace();
  mkdirSync(workspace.path("disk"));
  workspace.write(
    "script",
    `set -u
mount -t tmpfs -o size=${size} tmpfs disk || exit 99
step() { name=$1; shift; "$@" >$name.out 2>$name.err; echo "$name=$?"; }
lockedroom() { "${process.execPath}" "${BIN}" "$@"; }
${script}`,
  );
  const namespace = process.getuid?.() === 0 ? "-m" : "-Urm";
  const result = await start("unshare", [namespace, "sh", "script"], workspace.dir).finished.catch(
    () => ({ code: 99, signal: null, stdout: "", stderr: "no unshare" }),
  );
  return [workspace, result];
}

const EVAL = `lockedroom eval --dataset ${DEV} --completions ${FROZEN}`;
const UNMOUNTABLE = "this machine lets nobody mount a file system in a namespace";

/** What a step printed, as `expectError` wants it. */
function said(workspace: Workspace, result: Finished, step: string): Finished {
  const code = new RegExp(`^${step}=(\\d+)$`, "m").exec(result.stdout)?.[1];
  expect(code, describeRun(result)).toBeDefined();
  const [stdout, stderr] = [workspace.read(`${step}.out`), workspace.read(`${step}.err`)];
  return { code: Number(code), signal: null, stdout, stderr };
}

test("a read-only disk is named as such, and nothing is made", async ({ skip }) => {
  const [workspace, result] = await onSmallDisk(
    "4m",
    `mount -o remount,ro disk
step eval ${EVAL} --outdir disk/run
mount -o remount,rw disk
step again ${EVAL} --outdir disk/run`,
  );
  if (result.code === 99) skip(UNMOUNTABLE);
  expectError(
    said(workspace, result, "eval"),
    EXIT.usage,
    /disk\/run: the file system is read-only/,
  );
  expect(said(workspace, result, "again").code).toBe(EXIT.ok);
});

describe.concurrent("a full disk", () => {
  test("in the middle: no run that looks done, and the same command works later", async ({
    skip,
  }) => {
    const [workspace, result] = await onSmallDisk(
      "48k",
      `step eval ${EVAL} --outdir disk/run
[ -e disk/run/summary.json ] && echo summary
step inspect lockedroom inspect-run --run disk/run
mount -o remount,size=4m disk
step again ${EVAL} --outdir disk/run
cp -r disk/run run`,
    );
    if (result.code === 99) skip(UNMOUNTABLE);
    expectError(said(workspace, result, "eval"), EXIT.io, /disk\/run\S*: the disk is full/, /Free/);
    expect(result.stdout).not.toContain("summary");
    expect(said(workspace, result, "inspect").code).toBe(EXIT.data);
    expect(said(workspace, result, "again").code).toBe(EXIT.ok);
    expect(workspace.readRun("run").rows).toHaveLength(240);
  });

  test("from the start", async ({ skip }) => {
    const [workspace, result] = await onSmallDisk(
      "32k",
      `head -c 1000000 /dev/zero >disk/filler 2>head.err
step eval ${EVAL} --outdir disk/run
ls -A disk/run 2>ls.err && echo left`,
    );
    if (result.code === 99) skip(UNMOUNTABLE);
    expectError(said(workspace, result, "eval"), EXIT.io, /the disk is full/, /Free/);
    expect(result.stdout).not.toContain("left");
  });

  test("with --force: the old run is still whole", async ({ skip }) => {
    const [workspace, result] = await onSmallDisk(
      "128k",
      `step first ${EVAL} --outdir disk/run
cp -r disk/run before
step second ${EVAL} --outdir disk/run --force
cp -r disk/run after
step inspect lockedroom inspect-run --run disk/run`,
    );
    if (result.code === 99) skip(UNMOUNTABLE);
    expect(said(workspace, result, "first").code).toBe(EXIT.ok);
    expectError(said(workspace, result, "second"), EXIT.io, /the disk is full/);
    expect(workspace.snapshot("after")).toEqual(workspace.snapshot("before"));
    expect(said(workspace, result, "inspect").stdout).not.toMatch(/^!/m);
  });

  test.for([
    [
      "a rollout",
      "64k",
      `lockedroom rollout --policy pi0 --n 1 --max-tokens 8 --dataset ${DEV} --outdir disk/run`,
    ],
    [
      "a training",
      "1m",
      `lockedroom train grpo --init pi0 --steps 2 --save-every 1 --dataset ${DEV} \
        --set rollouts.group=2 --set rollouts.prompts=2 --outdir disk/run`,
    ],
  ])(
    "%s: the advice is to go on with --resume, and it works",
    async ([, size = "", command = ""], { skip }) => {
      const [workspace, result] = await onSmallDisk(
        size,
        `step first ${command}
step stuck ${command} --resume
mount -o remount,size=32m disk
step again ${command} --resume
[ -e disk/run/summary.json ] && echo summary`,
      );
      if (result.code === 99) skip(UNMOUNTABLE);
      for (const name of ["first", "stuck"]) {
        const { stderr, code } = said(workspace, result, name);
        expect({ code, stderr }).toMatchObject({ code: EXIT.io });
        expect(stderr.replace(/\s+/g, " ")).toMatch(
          /the disk is full Free some space\. .*--resume\./,
        );
        expect(stderr).not.toMatch(/run the same command again/);
      }
      expect(said(workspace, result, "again").code).toBe(EXIT.ok);
      expect(result.stdout).toMatch(/^summary$/m);
    },
  );

  test("a limit on file sizes", async () => {
    const workspace = new Workspace();
    const result = await start(
      "sh",
      [
        "-c",
        `ulimit -f 8; "${process.execPath}" "${BIN}" "$@"`,
        "-",
        ...EVAL.split(" ").slice(1),
        "--outdir",
        "run",
      ],
      workspace.dir,
    ).finished;
    expectError(result, EXIT.io, /run\S*: the file would be larger than is allowed/);
    expect(workspace.has("run", "summary.json")).toBe(false);
  });

  test("under stdout is told on stderr", async () => {
    const workspace = sums(3);
    const result = await start(
      "sh",
      [
        "-c",
        `"${process.execPath}" "${BIN}" "$@" >/dev/full`,
        "-",
        "eval",
        "--dataset",
        "d.jsonl",
        "--completions",
        "c.jsonl",
        "--outdir",
        "run",
      ],
      workspace.dir,
    ).finished;
    expectError(result, EXIT.io, /disk is full|no space left/);
    expect(workspace.readRun("run").rows, "the run itself was written").toHaveLength(3);
  });
});
