/** Set-up does what is needed, once, and is silent otherwise. Runs on small clones, offline. */

import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

const repository = fileURLToPath(new URL("..", import.meta.url));
const { requireNode } = (await import(new URL("../scripts/setup.mjs", import.meta.url).href)) as {
  requireNode(version: string): void;
};

const BUILT = "lockedroom: building dist (tsc)\n";
const INSTALLED = "lockedroom: installing dependencies (npm ci)\n";

const home = mkdtempSync(join(tmpdir(), "lockedroom-setup-"));
afterAll(() => rmSync(home, { recursive: true }));

/** An npm that installs the compiler by linking it, or fails as FAKE_NPM says. */
writeFileSync(
  join(home, "npm"),
  `#!/usr/bin/env node
const { appendFileSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } = require("node:fs");
appendFileSync("npm-calls", process.argv.slice(2).join(" ") + "\\n");
if (process.env.FAKE_LOCK) writeFileSync(".setup/lock", process.env.FAKE_LOCK);
if (process.env.FAKE_NPM) {
  console.error("npm error code " + process.env.FAKE_NPM);
  process.exit(1);
}
mkdirSync("node_modules", { recursive: true });
for (const name of ["typescript", "@types"]) {
  symlinkSync(${JSON.stringify(join(repository, "node_modules"))} + "/" + name, "node_modules/" + name, "junction");
}
copyFileSync("package-lock.json", "node_modules/.package-lock.json");
`,
  { mode: 0o755 },
);

let clone = "";
let count = 0;

/** A small package with this repository's set-up, compiler and compiler options. */
function freshClone(): void {
  clone = join(home, `clone-${count++}`);
  for (const file of ["scripts/setup.mjs", "lockedroom", "tsconfig.json", "tsconfig.build.json"]) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    copyFileSync(join(repository, file), join(clone, file));
  }
  write("package.json", '{ "name": "small", "type": "module" }');
  write("package-lock.json", lockFile("1.0.0"));
  write(
    "src/cli/bin.ts",
    '#!/usr/bin/env node\nimport { name } from "../name.ts";\nconsole.log(name);\n',
  );
  write("src/name.ts", 'export const name: string = "first";\n');
}

function readyClone(): void {
  freshClone();
  setUp();
}

const lockFile = (version: string): string =>
  JSON.stringify({ packages: { "": {}, "node_modules/typescript": { version } } });

function write(file: string, text: string): void {
  mkdirSync(dirname(join(clone, file)), { recursive: true });
  writeFileSync(join(clone, file), text);
}

const read = (file: string): string => readFileSync(join(clone, file), "utf8");

const environment = (extra: Record<string, string>) => ({
  ...process.env,
  PATH: home + delimiter + process.env.PATH,
  FAKE_NPM: "",
  ...extra,
});

function setUp(extra: Record<string, string> = {}, ...args: string[]) {
  const script = join(clone, "scripts/setup.mjs");
  return spawnSync(process.execPath, [script, ...args], {
    cwd: home,
    encoding: "utf8",
    env: environment(extra),
    timeout: 30_000,
  });
}

const ready = (stderr: string) => expect.objectContaining({ status: 0, stdout: "", stderr });

describe("a clone", () => {
  beforeEach(freshClone);

  test("is installed and built by the first run; the second is silent", () => {
    expect(setUp()).toEqual(ready(INSTALLED + BUILT));
    expect(setUp()).toEqual(ready(""));
    expect(read("npm-calls").trim().split("\n")).toHaveLength(1);
    expect(statSync(join(clone, "dist/cli/bin.js")).mode & 0o111).toBe(0o111);
    expect(readdirSync(join(clone, "dist")).sort()).toEqual([
      ".stamp",
      "cli",
      "name.d.ts",
      "name.js",
    ]);
  });

  test("answers through ./lockedroom from anywhere, and through a link", () => {
    const link = join(home, `link-${count}`);
    symlinkSync(join(clone, "lockedroom"), link);
    const options = { cwd: home, encoding: "utf8", env: environment({}) } as const;
    expect(spawnSync(process.execPath, [link], options)).toMatchObject({
      status: 0,
      stdout: "first\n",
      stderr: INSTALLED + BUILT,
    });
    expect(spawnSync(process.execPath, [link], options)).toMatchObject({
      stdout: "first\n",
      stderr: "",
    });
  });

  test("is set up once when several processes start together", async () => {
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => {
        const child = spawn(process.execPath, [join(clone, "lockedroom")], {
          env: environment({}),
        });
        const output = { stdout: "", stderr: "" };
        child.stdout.on("data", (chunk) => {
          output.stdout += chunk;
        });
        child.stderr.on("data", (chunk) => {
          output.stderr += chunk;
        });
        return new Promise<typeof output>((resolve) => child.on("close", () => resolve(output)));
      }),
    );
    expect(runs.map(({ stdout }) => stdout)).toEqual(Array(4).fill("first\n"));
    const stderr = runs.map((run) => run.stderr).join("");
    expect(stderr.split(INSTALLED)).toHaveLength(2);
    expect(stderr.split(BUILT)).toHaveLength(2);
  });
});

describe("the build is made again", () => {
  beforeEach(readyClone);

  test("when a source changes, even to the same size and time", () => {
    const { atime, mtime } = statSync(join(clone, "src/name.ts"));
    write("src/name.ts", read("src/name.ts").replace("first", "other"));
    utimesSync(join(clone, "src/name.ts"), atime, mtime);
    expect(setUp()).toEqual(ready(BUILT));
    expect(read("dist/name.js")).toContain("other");
    expect(setUp()).toEqual(ready(""));
  });

  test.each(["package.json", "tsconfig.json", "tsconfig.build.json"])("when %s changes", (file) => {
    write(file, `${read(file)}\n`);
    expect(setUp()).toEqual(ready(BUILT));
  });

  test("when a source comes or goes, and nothing stale stays", () => {
    write("src/deep/er/more.ts", "export const more = 1;\n");
    expect(setUp()).toEqual(ready(BUILT));
    expect(existsSync(join(clone, "dist/deep/er/more.js"))).toBe(true);
    rmSync(join(clone, "src/deep"), { recursive: true });
    expect(setUp()).toEqual(ready(BUILT));
    expect(existsSync(join(clone, "dist/deep"))).toBe(false);
  });

  test("when a file of dist is lost or cut short", () => {
    rmSync(join(clone, "dist/name.js"));
    expect(setUp()).toEqual(ready(BUILT));
    write("dist/name.js", "");
    expect(setUp()).toEqual(ready(BUILT));
  });

  test("when the last one was killed before it was done", () => {
    rmSync(join(clone, "dist/.stamp"));
    write(".setup/dist/half.js", "half a build");
    write(".setup/lock", String(deadProcess()));
    expect(setUp()).toEqual(ready(BUILT));
    expect(readdirSync(join(clone, ".setup"))).toEqual(["old"]);
    expect(existsSync(join(clone, "dist/half.js"))).toBe(false);
  });

  test("when it was stopped between the old dist and the new one", () => {
    mkdirSync(join(clone, ".setup"), { recursive: true });
    renameSync(join(clone, "dist"), join(clone, ".setup/old"));
    expect(setUp()).toEqual(ready(BUILT));
    expect(setUp()).toEqual(ready(""));
  });

  test("but not when a test changes", () => {
    write("src/name.test.ts", "this is not even TypeScript");
    expect(setUp()).toEqual(ready(""));
  });
});

describe("the dependencies", () => {
  test("are installed again when the lock file changes", () => {
    readyClone();
    rmSync(join(clone, "node_modules"), { recursive: true });
    expect(setUp()).toEqual(ready(INSTALLED + BUILT));
    write("package-lock.json", lockFile("1.0.1"));
    rmSync(join(clone, "node_modules/typescript"));
    rmSync(join(clone, "node_modules/@types"));
    expect(setUp()).toEqual(ready(INSTALLED + BUILT));
  });

  test("are taken as they are when npm's own record agrees with the lock file", () => {
    readyClone();
    write("package-lock.json", `${read("package-lock.json")}\n`);
    expect(setUp()).toEqual(ready(BUILT));
    expect(read("npm-calls").trim().split("\n")).toHaveLength(1);
  });

  test("include the compiler and exclude install scripts, whatever the caller's npm was told", () => {
    freshClone();
    setUp({ NODE_ENV: "production" });
    expect(read("npm-calls")).toBe("ci --ignore-scripts --include=dev --prefer-offline\n");
  });

  test("that cannot be had give npm's own words, what to do, and no build", () => {
    freshClone();
    const result = setUp({ FAKE_NPM: "ENOTFOUND" });
    expect(result).toMatchObject({ status: 70, stdout: "" });
    expect(result.stderr).toMatch(/npm error code ENOTFOUND\n.*network.*npm install\n$/);
    expect(result.stderr).not.toContain("    at ");
    expect(existsSync(join(clone, ".setup/lock"))).toBe(false);
    expect(setUp()).toEqual(ready(INSTALLED + BUILT));
  });

  test("are never installed from npm's own prepare", () => {
    freshClone();
    const result = setUp({}, "--no-install");
    expect(result.status).toBe(0);
    expect(result.stderr).toContain("dist was not built");
    expect(existsSync(join(clone, "npm-calls"))).toBe(false);
  });
});

describe("otherwise", () => {
  test("a source that does not compile stops the run and leaves the last build alone", () => {
    readyClone();
    write("src/name.ts", "export const name: string = 1;\n");
    const result = setUp();
    expect(result.status).toBe(70);
    expect(result.stderr).toMatch(/the build failed\nsrc\/name\.ts.*TS2322/);
    expect(read("dist/name.js")).toContain("first");
    expect(setUp().status).toBe(70);
    write("src/name.ts", 'export const name: string = "third";\n');
    expect(setUp()).toEqual(ready(BUILT));
  });

  test("a clone that is ready needs neither the lock nor a place to write", () => {
    readyClone();
    write(".setup/lock", String(process.pid));
    for (const folder of [".", "dist", ".setup"]) chmodSync(join(clone, folder), 0o555);
    expect(setUp()).toEqual(ready(""));
    for (const folder of [".", "dist", ".setup"]) chmodSync(join(clone, folder), 0o755);
  });

  test.each(["", "not a pid", "0", "-1", "99999999999"])(
    "a lock that holds %j is no lock",
    (text) => {
      readyClone();
      rmSync(join(clone, "dist/.stamp"));
      write(".setup/lock", text);
      expect(setUp()).toEqual(ready(BUILT));
      expect(existsSync(join(clone, ".setup/lock"))).toBe(false);
    },
  );

  test.skipIf(process.platform === "win32")("a lock that cannot be written is not left", () => {
    freshClone();
    const full = `ulimit -f 0; exec "$0" "${join(clone, "scripts/setup.mjs")}"`;
    const options = { encoding: "utf8", timeout: 30_000, env: environment({}) } as const;
    const { status, stderr } = spawnSync("sh", ["-c", full, process.execPath], options);
    expect({ status, stderr }).toEqual({ status: 70, stderr: expect.stringContaining("EFBIG") });
    expect(readdirSync(join(clone, ".setup"))).toEqual([]);
  });

  test("a lock taken just before an abandoned one is removed is put back", () => {
    readyClone();
    rmSync(join(clone, "dist/.stamp"));
    write(".setup/lock", String(deadProcess()));
    // The first rename finds the lock of a living process in the place of the abandoned one.
    write(
      "other-process.mjs",
      `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const { renameSync } = fs;
let calls = 0;
fs.renameSync = (from, to) => {
  if (++calls === 1) fs.writeFileSync(from, String(process.ppid));
  renameSync(from, to);
  if (calls === 2) renameSync(to, "${join(clone, "put-back")}");
};
syncBuiltinESMExports();
`,
    );
    const preload = `--import=${pathToFileURL(join(clone, "other-process.mjs"))}`;
    expect(setUp({ NODE_OPTIONS: preload })).toEqual(ready(BUILT));
    expect(read("put-back")).toBe(String(process.pid));
  });

  test("a lock that another process holds by then is not removed at the end", () => {
    freshClone();
    setUp({ FAKE_NPM: "ENOTFOUND", FAKE_LOCK: String(process.pid) });
    expect(read(".setup/lock")).toBe(String(process.pid));
  });

  test.each(["18.20.8", "20.18.3"])("Node %s is refused in a sentence", (version) => {
    expect(() => requireNode(version)).toThrow(
      `Node 20.19 or newer is needed, and this is Node ${version}.`,
    );
  });

  test.each(["20.19.0", "22.0.0", "24.1.0"])("Node %s will do", (version) => {
    expect(() => requireNode(version)).not.toThrow();
  });
});

function deadProcess(): number {
  return spawnSync(process.execPath, ["-e", ""]).pid;
}
