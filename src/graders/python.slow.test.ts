import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setGraderHost } from "./host.ts";
import { openGrader } from "./open-grader.ts";
import { isFault, type OpenedGrader } from "./opened.ts";
import { sampleOf } from "./sample.ts";
import { settingsSchema } from "./settings.ts";

type Settings = Partial<Parameters<typeof openGrader>[1]>;

function open(source: string, settings: Settings = {}): Promise<OpenedGrader> {
  const all = { ...settingsSchema.parse({}), ...settings };
  return openGrader({ type: "python", name: "p", source }, all, "g.json");
}

/** A grader that runs what the sample says: `r` is its reward, and what it prints is shown. */
const RUNS = `rows = []
def grade(sample, item):
    rows.append(1)
    space = {"r": 1.0, "rows": rows, "names": __builtins__, "sample": sample, "item": item}
    exec(sample["output_text"], space)
    return space["r"]`;

async function said(grader: OpenedGrader, code: string, item = {}) {
  const given = await grader.grade({ item, sample: sampleOf(code) });
  if (!isFault(given)) return { reward: given.reward, output: given.details?.output };
  return { flag: given.flag, message: given.message, output: given.more?.output };
}

const runtimeError = (message: string | RegExp) => ({
  flag: "python_grader_runtime_error",
  message: expect.stringMatching(message),
  output: undefined,
});

describe("a python grader in the sandbox", () => {
  let grader: OpenedGrader;
  beforeAll(async () => {
    grader = await open(RUNS, { python_memory_mb: 256 });
    await grader.ready?.();
  });
  afterAll(() => grader.close?.());

  it("gives the number that grade returns, and the beginning of what it prints", async () => {
    expect(await said(grader, "r = 0.25; print('seen')")).toEqual({
      ...{ reward: 0.25, output: "seen\n" },
    });
    expect(await said(grader, "r = 3")).toEqual({ reward: 3, output: undefined });
    expect(await said(grader, "from fractions import Fraction; r = Fraction(1, 4)")).toEqual({
      ...{ reward: 0.25, output: undefined },
    });
    const { output } = await said(grader, "print('x' * 1000000)");
    expect(output).toMatch(/^x{1000}… \(1000001 characters\)$/);
  });

  it.each([
    ["r = float('nan')", /returned nan, not a finite number/],
    ["r = float('inf')", /returned inf, not a finite number/],
    ["r = True", /returned a bool, not a number/],
    ["r = [1.0]", /returned a list, not a number/],
    ["r = None", /returned None, not a number/],
    ["r = '1'", /returned a str, not a number/],
    ["r = 10 ** 400", /OverflowError/],
    ["1 / 0", /^line 5: ZeroDivisionError: division by zero$/],
    ["import sys; sys.exit()", /SystemExit/],
    ["def f(): return f()\nf()", /RecursionError/],
  ])("has no grade for %s", async (code, message) => {
    expect(await said(grader, code)).toEqual(runtimeError(message));
  });

  it.each([
    ["import js", /No module named 'js'/],
    ["import pyodide_js", /No module named 'pyodide_js'/],
    ["import _pyodide_core", /No module named '_pyodide_core'/],
    ["from pyodide.code import run_js; run_js('1')", /No module named 'js'/],
    ["import pyodide_js._api", /No module named 'pyodide_js'/],
    ["import ctypes", /No module named '_ctypes'/],
    ["import _testcapi", /No module named '_testcapi'/],
    ["import _remote_debugging", /No module named '_remote_debugging'/],
    ["import importlib; importlib.import_module('js')", /No module named 'js'/],
    ["import os; os.system('true')", /no attribute 'system'/],
    ["import os; os.popen('true')", /no attribute 'popen'|does not support processes/],
    ["import subprocess; subprocess.run(['true'])", /does not support processes/],
    ["import os; os.fork()", /no attribute 'fork'/],
    ["import threading; threading.Thread(target=print).start()", /can't start new thread/],
    ["open('/etc/passwd')", /No such file/],
    [`open(${JSON.stringify(process.execPath)})`, /No such file/],
    ["import os; os.open('/etc/passwd', os.O_RDONLY)", /No such file/],
    ["open('/proc/self/environ')", /No such file/],
    ["open('/tmp/x', 'w')", /Read-only file system/],
    ["import os; os.mkdir('/tmp/x')", /Read-only file system/],
    ["import os; os.open('/tmp/x', os.O_CREAT | os.O_RDWR)", /Read-only file system/],
    ["import socket; socket.socket()", /PermissionError/],
    ["import socket; socket.create_connection(('127.0.0.1', 80))", /PermissionError/],
    ["import urllib.request as u; u.urlopen('http://127.0.0.1:9')", /Permission denied/],
  ])("has no way out by %s", async (code, message) => {
    expect(await said(grader, code)).toEqual(runtimeError(message));
  });

  it("hands out no module that was closed, also not from the interpreter's own tables", async () => {
    const code = `import _imp, importlib.machinery as m
for name in ("_ctypes", "_pyodide_core", "_testcapi"):
    module = _imp.create_builtin(m.ModuleSpec(name, None))
    print([n for n in dir(module) if n in ("to_js", "create_proxy", "CDLL", "dlopen", "PyObj_FromPtr")])`;
    expect((await said(grader, code)).output).toBe("[]\n[]\n[]\n");
  });

  it("has no JavaScript object in all that Python can reach", async () => {
    const code = `import gc
seen, found = {}, []
todo = [gc.get_objects(), object.__subclasses__(), names]
while todo:
    one = todo.pop()
    if id(one) in seen:
        continue
    seen[id(one)] = one
    if not isinstance(one, type) and "JsProxy" in [c.__name__ for c in type(one).__mro__]:
        found.append(type(one))
    todo.extend(gc.get_referents(one))
print(len(seen) > 10000, found)`;
    expect((await said(grader, code)).output).toBe("True []\n");
  });

  it("starts each row with fresh globals and built-ins", async () => {
    const code = "r = len(rows) + names.get('seen', 0); names['seen'] = 1";
    for (const _ of [1, 2, 3]) expect(await said(grader, code)).toMatchObject({ reward: 1 });
  });

  it("reads sample and item as plain data", async () => {
    const code = "r = item['a']['b'] + len(sample['choices']) + len(sample['output_tools'])";
    expect(await said(grader, code, { a: { b: 20 } })).toMatchObject({ reward: 21 });
  });

  it("knows nothing of the host", async () => {
    const { output } = await said(grader, "import os; print(sorted(os.environ), os.environ['_'])");
    expect(output).not.toMatch(/NODE|KEY|npm/);
    expect(output).toContain("python");
  });

  it("gets an error for more memory than the limit, and goes on", async () => {
    for (const code of [
      "b = bytearray(10 * 2 ** 30)",
      "b = bytearray(10 ** 9)",
      "b = [0] * 10 ** 9",
    ])
      expect(await said(grader, code)).toEqual(runtimeError(/MemoryError|OverflowError/));
    expect(await said(grader, "b = bytearray(10 ** 7); r = len(b) / 10 ** 7")).toMatchObject({
      reward: 1,
    });
  });

  it("sees the same time, random numbers and hashes in every row", async () => {
    const code = `import os, random, time, uuid
r = random.random()
print(time.time(), time.monotonic(), os.urandom(8), uuid.uuid4(), hash("a"), random.Random().random())`;
    const first = await said(grader, code);
    expect(await said(grader, code)).toEqual(first);
    expect(await said(grader, "import time; began = time.time(); time.sleep(600); r = 1")).toEqual({
      ...{ reward: 1, output: undefined },
    });
  });
});

describe("a python grader that loops", () => {
  it("is ended after its time limit", async () => {
    const grader = await open(RUNS, { python_seconds: 2 });
    await grader.ready?.();
    const late = runtimeError(/^grade did not return within 2 s$/);
    expect(await said(grader, "while True: pass")).toEqual(late);
    await grader.close?.();
  });
});

const PYTHON = (() => {
  try {
    return execFileSync("/bin/sh", ["-c", "command -v python3"], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
})();

describe.skipIf(PYTHON === "")("a python grader with a local interpreter", () => {
  afterAll(() => setGraderHost({}));

  it.each([
    ["def grade(sample, item)\n  return 1", /^g.json: source: line 1: SyntaxError: /],
    ["x = 1", /^g.json: source: it defines no function grade/],
    ["1 / 0", /^g.json: source: line 1: ZeroDivisionError/],
  ])("and the source %j is refused before any row", async (source, message) => {
    setGraderHost({ python: PYTHON });
    const grader = await open(source);
    await expect(grader.ready?.()).rejects.toThrow(message);
    await grader.close?.();
  });

  it("is ended when it loops, and the rows behind it are graded", async () => {
    setGraderHost({ python: PYTHON });
    const grader = await open(RUNS, { python_seconds: 2 });
    const texts = ["r = 1", "while True: pass", "r = 2"];
    const rows = await Promise.all(texts.map((text) => said(grader, text)));
    const late = runtimeError(/^grade did not return within 2 s$/);
    expect(rows).toEqual([{ reward: 1 }, late, { reward: 2 }]);
    await grader.close?.();
  });

  it("grades with the same rules and limits, and is not taken for a sandbox", async () => {
    setGraderHost({ python: PYTHON });
    const grader = await open(RUNS, { python_seconds: 3, python_memory_mb: 512 });
    await grader.ready?.();
    expect(grader.sandboxed).toBe(false);
    expect(grader.runtime).toMatch(/^python 3\./);
    expect(await said(grader, "r = 0.5; print('seen')")).toEqual({ reward: 0.5, output: "seen\n" });
    expect(await said(grader, "r = True")).toEqual(runtimeError(/returned a bool/));
    expect(await said(grader, "b = bytearray(10 * 2 ** 30)")).toEqual(runtimeError(/MemoryError/));
    expect(await said(grader, "import os; print(sorted(os.environ))")).toMatchObject({
      output: expect.not.stringMatching(/HOME|KEY/),
    });
    expect(await said(grader, "import os; print(os.getcwd())")).toMatchObject({
      output: expect.stringMatching(/lockedroom-grader-/),
    });
    expect(await said(grader, "import os; os.write(1, b'{}\\n')")).toMatchObject({ reward: 1 });
    const late = runtimeError(/did not return within 3 s/);
    expect(await said(grader, "while True: pass")).toEqual(late);
    expect(await said(grader, "r = 0.5")).toMatchObject({ reward: 0.5 });
    await grader.close?.();
  });

  it("that is not there is an error of the grader's process", async () => {
    setGraderHost({ python: "/no/such/python" });
    const grader = await open(RUNS);
    await expect(grader.ready?.()).rejects.toThrow(/\/no\/such\/python/);
    expect(await said(grader, "r = 1")).toMatchObject({ flag: "python_grader_server_error" });
    await grader.close?.();
  });
});
