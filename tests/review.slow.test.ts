/** A person at the command `review`: keys through a pipe and at a terminal, kills and returns. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, beforeAll, expect, test } from "vitest";
import { BIN, EXIT, type Finished, Workspace } from "./cli.ts";

const PAIRS = Array.from({ length: 6 }, (_, i) => ({
  ...{ id: `t${i}`, prompt: `Tell me ${i}:`, a: `in a line ${i}`, b: `in two ${i}` },
}));

const at = new Workspace();
beforeAll(() => void at.jsonl("pairs.jsonl", PAIRS));

const flags = (outdir: string) => ["review", "--pairs", "pairs.jsonl", "--outdir", outdir];

function review(outdir: string, keys: string, more: readonly string[] = []): Promise<Finished> {
  const { child, finished } = at.start([...flags(outdir), ...more]);
  child.stdin?.end(keys);
  return finished;
}

const linesOf = (outdir: string) =>
  at.has(outdir, "labels.jsonl") ? at.read(outdir, "labels.jsonl").split("\n").length - 1 : 0;

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !condition(); i++) await new Promise((go) => setTimeout(go, 25));
  expect(condition()).toBe(true);
}

test("a killed review has lost nothing, and ends with the same bytes", async () => {
  expect(await review("whole", "12=s21")).toMatchObject({ code: EXIT.ok, stderr: "" });
  const { child, finished } = at.start(flags("killed"));
  child.stdin?.write("12");
  await until(() => linesOf("killed") === 2);
  child.kill("SIGKILL");
  expect(await finished).toMatchObject({ signal: "SIGKILL" });
  expect(at.has("killed", "summary.json")).toBe(false);
  const listed = await at.run(["runs", "killed"]);
  expect(listed.stdout).toMatch(/^review +interrupted/);
  const { stdout } = await review("killed", "=s21");
  expect(stdout).toContain("Continuing after 2 labels.");
  for (const name of ["labels.jsonl", "pairs.jsonl", "summary.json"])
    expect(at.read("killed", name), name).toBe(at.read("whole", name));
  expect(stdout).toContain("5 of 6 pairs labelled, 1 skipped");
});

test("another source or seed is refused, and the labels stay", async () => {
  await review("kept", "1");
  const before = at.read("kept", "labels.jsonl");
  at.jsonl("changed.jsonl", [...PAIRS.slice(1), { ...PAIRS[0], a: "edited" }]);
  const changed = await at.run([...flags("kept"), "--pairs", "changed.jsonl"]);
  expect(changed).toMatchObject({ code: EXIT.usage });
  expect(changed.stderr).toContain("what differs: the pairs");
  const seeded = await at.run([...flags("kept"), "--seed", "5"]);
  expect(seeded.stderr).toContain("what differs: --seed");
  expect(at.read("kept", "labels.jsonl")).toBe(before);
  expect((await review("kept", "2", ["--seed", "0"])).code).toBe(EXIT.ok);
  expect(linesOf("kept")).toBe(2);
});

test("labels of a person are compared with a judge's, and train a policy", async () => {
  await review("person", "111111");
  at.jsonl(
    "judge.jsonl",
    PAIRS.map(({ id }) => ({ id, better: "b" })),
  );
  const report = ["--judge-labels", "judge.jsonl", "--report", "agreement.json"];
  const { stdout } = await at.run(["review", "--summary", "--outdir", "person", ...report]);
  const { agreement, wins } = JSON.parse(at.read("agreement.json"));
  expect(agreement).toMatchObject({ n: 6, agreed: wins, without_verdict: 0 });
  expect(agreement.disagreements).toHaveLength(6 - wins);
  expect(stdout).toContain("of judge and person");
  const page = await at.run(["report", "--run", "person", "--outfile", "person.html"]);
  expect(page).toMatchObject({ code: EXIT.ok });
  const training = ["--steps", "1", "--batch", "2", "--outdir", "trained"];
  const trained = await at.run([
    "train",
    "dpo",
    "--init",
    "pi0",
    "--dataset",
    "person/pairs.jsonl",
    ...training,
  ]);
  expect(trained, trained.stderr).toMatchObject({ code: EXIT.ok });
});

/** Starts a program at a terminal of its own, types each key when the screen shows what it waits for. */
const TYPIST = `
import os, pty, select, sys, time, fcntl, termios, struct
program, steps = sys.argv[1].split("\\x1f"), sys.argv[2].split("\\x1f")
pid, fd = pty.fork()
if pid == 0:
    os.execvp(program[0], program)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 46, 0, 0))
seen, end = b"", time.time() + 20
def read():
    global seen
    if select.select([fd], [], [], 0.05)[0]:
        part = os.read(fd, 65536)
        if not part: raise OSError
        seen += part
try:
    for step in steps:
        wanted, key = step.split("\\x1e")
        start = len(seen)
        while wanted.encode() not in seen[start:] and time.time() < end: read()
        os.write(fd, key.encode())
    while time.time() < end: read()
except OSError:
    pass
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status))
`;

function python(): string | undefined {
  try {
    execFileSync("python3", ["-c", "import pty, fcntl, termios, os; os.waitstatus_to_exitcode"], {
      stdio: "ignore",
    });
    return "python3";
  } catch {
    return undefined;
  }
}

afterEach(() => at.has("terminal", ".running") && expect.fail("the folder is still claimed"));

test.skipIf(python() === undefined)(
  "at a terminal a key is enough, lines fit its width, and Ctrl-C keeps every label (needs python3)",
  async () => {
    const program = [process.execPath, BIN, ...flags("terminal")];
    const type = (steps: readonly (readonly [string, string])[]) => {
      const typed = steps.map((step) => step.join("\x1e")).join("\x1f");
      try {
        const text = execFileSync("python3", ["-c", TYPIST, program.join("\x1f"), typed], {
          ...{ cwd: at.dir, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
        });
        return { code: 0, text };
      } catch (error) {
        const { status, stdout } = error as { status: number; stdout: string };
        return { code: status, text: stdout };
      }
    };
    const first = type([
      ["Pair 1 of 6", "1"],
      ["Pair 2 of 6", "\u001b[A"],
      ["nothing here", "="],
      ["Pair 3 of 6", "\u0003"],
    ]);
    expect(first.text).toContain("Interrupted: 2 labels kept");
    expect(first.code).toBe(130);
    expect(linesOf("terminal")).toBe(2);
    const second = type([
      ["Pair 3 of 6", "2"],
      ["Pair 4 of 6", "u"],
      ["Pair 3 of 6", "1"],
      ["Pair 4 of 6", "1"],
      ["Pair 5 of 6", "1"],
      ["Pair 6 of 6", "1"],
      ["All 6 pairs", "q"],
    ]);
    expect(second).toMatchObject({ code: 0 });
    expect(second.text).toContain("Review written to terminal");
    const screens = second.text.split("\u001b[2J\u001b[H").slice(1, -1);
    for (const line of screens.flatMap((screen) => screen.split(/\r?\n/)))
      expect([...line.replace(/\u001b\[[0-9;]*m/g, "")].length, line).toBeLessThanOrEqual(46);
    const labels = readFileSync(at.path("terminal", "labels.jsonl"), "utf8");
    expect(labels).toBe(await piped("1=1111"));
  },
);

async function piped(keys: string): Promise<string> {
  await review("piped", keys);
  return at.read("piped", "labels.jsonl");
}

test("the help names what the command needs", async () => {
  const { stderr, code } = await at.run(["review", "--outdir", "none"]);
  expect(code).toBe(EXIT.usage);
  expect(stderr).toContain("Give --baseline and --candidate");
  expect(at.has("none")).toBe(false);
});
