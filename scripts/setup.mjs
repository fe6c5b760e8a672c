/**
 * Makes a clone ready to run: installs the dependencies and builds dist, each only when needed.
 * It has no dependencies, and says nothing when there is nothing to do.
 *
 * dist/.stamp describes every input and output of the last build. A build is made in a folder of its
 * own that then takes the place of dist, so that a killed build leaves dist as it was.
 */

import * as fs from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST_NODE = [20, 19];
/** EX_SOFTWARE, the command line's code for "not your input": 1 to 3 are the gate's verdicts. */
const EXIT_NOT_READY = 70;
/** For the lock and for a build that is not finished. */
const WORK = ".setup";
const INSTALLED = "node_modules/.package-lock.json";
const COMPILER = "node_modules/typescript/bin/tsc";
const NPM_LINES = 8;
const POLL_MS = 50;
const POLLS_BEFORE_A_WORD = 20;
/** A lock is empty for a moment before its pid is written; one that stays so was left behind. */
const EMPTY_LOCK_MS = 1000;

/** Throws when the clone cannot be made ready. `install: false` trusts node_modules. */
export function ensureReady({ root = ROOT, install = true } = {}) {
  requireNode(process.versions.node);
  if (isBuilt(root)) return;
  withLock(join(root, WORK, "lock"), () => {
    // Another process may have done the work while this one waited for the lock.
    if (isBuilt(root)) return;
    if (install && !isInstalled(root)) installDependencies(root);
    if (fs.existsSync(join(root, COMPILER))) build(root);
    else say("dist was not built: the development dependencies are not installed");
  });
}

/** For programs: a sentence instead of a stack. */
export function readyOrExit(options) {
  try {
    ensureReady(options);
  } catch (error) {
    say(error.message);
    process.exit(EXIT_NOT_READY);
  }
}

/** The hook that vitest's globalSetup looks for. */
export function setup() {
  ensureReady();
}

export function requireNode(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Error(
    `Node ${OLDEST_NODE.join(".")} or newer is needed, and this is Node ${version}. ` +
      "Install a newer Node, then run the same command again.",
  );
}

// --- the build ------------------------------------------------------------------------------------

function isBuilt(root) {
  const stamp = join(root, "dist/.stamp");
  return fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === inputs(root) + outputs(root);
}

function inputs(root) {
  const sources = walk(root, "src").filter((file) => !file.endsWith(".test.ts"));
  const settings = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];
  return describe(root, [INSTALLED, ...settings, ...sources]);
}

function outputs(parent) {
  return describe(
    parent,
    walk(parent, "dist").filter((file) => file !== "dist/.stamp"),
  );
}

function describe(root, files) {
  const lines = files.map((file) => {
    const stat = fs.statSync(join(root, file), { throwIfNoEntry: false });
    return `${file} ${stat?.size} ${stat?.mtimeMs} ${stat?.ctimeMs}\n`;
  });
  return lines.join("");
}

function walk(root, folder) {
  return fs.readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? walk(root, path) : [path];
  });
}

function build(root) {
  say("building dist (tsc)");
  const work = join(root, WORK);
  for (const name of ["dist", "old"]) fs.rmSync(join(work, name), { recursive: true, force: true });
  // Taken before the build: a file edited while it runs then differs from the stamp.
  const before = inputs(root);
  const compile = [COMPILER, "-p", "tsconfig.build.json", "--outDir", `${WORK}/dist`];
  const { status, stdout, stderr } = run(root, process.execPath, compile);
  if (status !== 0) throw new Error(`the build failed\n${stdout}${stderr}`);
  fs.chmodSync(join(work, "dist/cli/bin.js"), 0o755);
  fs.writeFileSync(join(work, "dist/.stamp"), before + outputs(work));
  if (fs.existsSync(join(root, "dist"))) fs.renameSync(join(root, "dist"), join(work, "old"));
  fs.renameSync(join(work, "dist"), join(root, "dist"));
}

// --- the dependencies -----------------------------------------------------------------------------

/** Whether npm's own record of what it installed agrees with the lock file. */
function isInstalled(root) {
  const found = packages(root, INSTALLED);
  return Object.entries(packages(root, "package-lock.json")).every(
    ([path, { version, optional = false }]) =>
      // Optional packages are the binaries of other platforms.
      path === "" || (found[path] === undefined ? optional : found[path].version === version),
  );
}

function packages(root, file) {
  if (!fs.existsSync(join(root, file))) return {};
  return JSON.parse(fs.readFileSync(join(root, file), "utf8")).packages;
}

function installDependencies(root) {
  say("installing dependencies (npm ci)");
  const flags = ["--ignore-scripts", "--include=dev", "--prefer-offline"];
  const { status, stderr } = run(root, "npm", ["ci", ...flags]);
  if (status === 0) return;
  // npm follows its reasons with its manual.
  const reasons = (stderr ?? "npm was not found").trim().split("\n").slice(0, NPM_LINES).join("\n");
  throw new Error(
    `npm ci failed\n${reasons}\n` +
      "If the package registry could not be reached, connect to the network once, or copy " +
      "node_modules from a clone with the same package-lock.json. If package.json was changed, " +
      "run: npm install",
  );
}

// --- one at a time --------------------------------------------------------------------------------

function withLock(lock, work) {
  fs.mkdirSync(dirname(lock), { recursive: true });
  for (let polls = 0; !tryLock(lock); polls++) {
    if (isAbandoned(lock)) takeAway(lock);
    if (polls === POLLS_BEFORE_A_WORD)
      say(`another process is setting up; waiting (if none is, delete ${WORK}/lock)`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
  try {
    work();
  } finally {
    if (contentOf(lock) === String(process.pid)) fs.rmSync(lock);
  }
}

function tryLock(lock) {
  let file;
  try {
    file = fs.openSync(lock, "wx");
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  }
  try {
    fs.writeSync(file, String(process.pid));
    return true;
  } catch (error) {
    fs.rmSync(lock, { force: true });
    throw error;
  } finally {
    fs.closeSync(file);
  }
}

/** Only one process can rename a lock. What it catches may be newer than what it saw. */
function takeAway(lock) {
  const caught = `${lock}.${process.pid}`;
  try {
    fs.renameSync(lock, caught);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return;
  }
  if (isAbandoned(caught)) fs.rmSync(caught);
  else fs.renameSync(caught, lock);
}

function isAbandoned(lock) {
  const pid = Number(contentOf(lock));
  // 0 is no process: kill(0) asks for the caller's own group.
  if (pid <= 0 || pid !== (pid | 0)) return ageOf(lock) > EMPTY_LOCK_MS;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

/** Empty when another process removed it. */
function contentOf(lock) {
  try {
    return fs.readFileSync(lock, "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return "";
  }
}

function ageOf(lock) {
  return Date.now() - (fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}

function run(cwd, command, args) {
  // Loaded only here: most runs need not pay for it.
  const { spawnSync } = createRequire(import.meta.url)("node:child_process");
  const shell = command === "npm" && process.platform === "win32";
  return spawnSync(command, args, { cwd, shell, encoding: "utf8", maxBuffer: 2 ** 26 });
}

function say(sentence) {
  process.stderr.write(`lockedroom: ${sentence}\n`);
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  readyOrExit({ install: !process.argv.includes("--no-install") });
}
