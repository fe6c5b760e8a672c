/**
 * Makes a clone ready to run: installs the dependencies and builds dist, each only when needed.
 * It has no dependencies, and says nothing when there is nothing to do.
 *
 * Ready is decided by stat calls alone when they agree with the last build (dist/.stamp), and by
 * content otherwise, so that a fresh checkout of the same files builds nothing. A build is made
 * aside and moved over dist file by file; the stamp goes first and comes back last, so a build that
 * was killed is simply made again.
 */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST_NODE = [20, 19];
/** EX_SOFTWARE, the command line's code for "not your input": 1 to 3 are the gate's verdicts. */
const EXIT_NOT_READY = 70;
const STAMP_VERSION = 1;

/** npm follows its reasons with its manual. */
const NPM_LINES = 8;

/** Loads a built-in only where it is needed: each costs milliseconds that most runs need not pay. */
const builtin = createRequire(import.meta.url);

/** Something a person has to mend; the message says how. */
export class SetupError extends Error {}

/** Throws a SetupError when the clone cannot be made ready. `install: false` trusts node_modules. */
export function ensureReady({ root = ROOT, install = true } = {}) {
  requireNode(process.versions.node);
  if (isReady(root)) return;
  withLock(root, () => makeReady(root, install));
}

/** For programs: a sentence instead of a stack. */
export function readyOrExit(options) {
  try {
    ensureReady(options);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
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
  throw new SetupError(
    `Node ${OLDEST_NODE.join(".")} or newer is needed, and this is Node ${version}. ` +
      "Install a newer Node, then run the same command again.",
  );
}

// --- ready? ---------------------------------------------------------------------------------------

function isReady(root) {
  const stamp = readStamp(root);
  if (stamp === undefined || !outputsIntact(root, stamp.outputs)) return false;
  const inputs = listInputs(root);
  const marker = readIfThere(markerPath(root));
  const seen = glance(root, inputs);
  if (stamp.seen === seen && stamp.dependencies === marker) return true;
  if (marker !== dependenciesHash(root) || stamp.content !== contentHash(root, inputs))
    return false;
  // Same content, other times: remember them where that is allowed, so the next check is short.
  tryTo(() => writeStamp(root, { ...stamp, seen, dependencies: marker }));
  return true;
}

/** Whatever decides what dist holds. Test files do not. */
function listInputs(root) {
  const sources = walk(join(root, "src")).filter((file) => !/\.test\.[cm]?tsx?$/.test(file));
  return [
    ...["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"],
    ...sources.map((file) => `src/${file}`),
  ];
}

function glance(root, inputs) {
  return inputs
    .map((file) => {
      const stat = statSync(join(root, file), { throwIfNoEntry: false });
      return stat ? `${file} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}` : `${file} none`;
    })
    .join("\n");
}

function contentHash(root, inputs) {
  const hashes = inputs.map((file) => {
    const bytes = readIfThere(join(root, file), null);
    return `${file} ${bytes === undefined ? "none" : sha256(bytes)}`;
  });
  return sha256(hashes.join("\n"));
}

function outputsIntact(root, outputs) {
  return Object.entries(outputs).every(
    ([file, size]) => statSync(join(root, "dist", file), { throwIfNoEntry: false })?.size === size,
  );
}

function readStamp(root) {
  try {
    const stamp = JSON.parse(readFileSync(stampPath(root), "utf8"));
    return stamp.version === STAMP_VERSION ? stamp : undefined;
  } catch {
    return undefined;
  }
}

function writeStamp(root, stamp) {
  const text = `${JSON.stringify({ version: STAMP_VERSION, ...stamp })}\n`;
  const aside = `${stampPath(root)}-${process.pid}`;
  writeFileSync(aside, text);
  renameSync(aside, stampPath(root));
}

// --- make ready -----------------------------------------------------------------------------------

/** Looks again at each need: another process may have met it while this one waited for the lock. */
function makeReady(root, install) {
  settleDependencies(root, install);
  if (!install && !existsSync(compilerPath(root))) {
    say("the build is skipped: the development dependencies are not installed");
    return;
  }
  const inputs = listInputs(root);
  // Taken before the build: a file edited while it runs is then newer than the stamp.
  const seen = glance(root, inputs);
  const content = contentHash(root, inputs);
  const stamp = readStamp(root);
  const outputs =
    stamp?.content === content && outputsIntact(root, stamp.outputs) ? stamp.outputs : build(root);
  writeStamp(root, { seen, content, outputs, dependencies: readIfThere(markerPath(root)) });
}

function settleDependencies(root, install) {
  const hash = dependenciesHash(root);
  if (hash === undefined) {
    throw new SetupError(
      "package-lock.json is missing. Restore it: git checkout package-lock.json",
    );
  }
  if (readIfThere(markerPath(root)) === hash) return;
  if (!installMatchesLock(root)) {
    if (!install) return;
    installDependencies(root);
  }
  writeFileSync(markerPath(root), hash);
}

/** Whether npm's own record of what it installed agrees with the lock file. */
function installMatchesLock(root) {
  const wanted = readPackages(join(root, "package-lock.json"));
  const installed = readPackages(join(root, "node_modules/.package-lock.json"));
  if (wanted === undefined || installed === undefined) return false;
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    if (path === "") return true;
    const found = installed[path];
    // Optional packages are the binaries of other platforms.
    if (found === undefined) return optional === true;
    return (
      found.version === version &&
      found.integrity === integrity &&
      existsSync(join(root, path, "package.json"))
    );
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function installDependencies(root) {
  say("installing dependencies (npm ci)");
  // No dependency needs an install script, and our own `prepare` would come back here. The other
  // flags undo settings inherited from an npm that called us (production, npm pack --dry-run).
  const flags = ["--ignore-scripts", "--include=dev", "--prefer-offline", "--dry-run=false"];
  const result = npm(root, ["ci", ...flags]);
  if (result.error?.code === "ENOENT") {
    throw new SetupError(
      "npm was not found. Install Node with npm, then run the same command again.",
    );
  }
  if (result.status !== 0) {
    const complaint = result.stderr.split("\n").filter((line) => /^npm error \S/.test(line));
    for (const line of complaint.slice(0, NPM_LINES)) say(line);
    throw new SetupError(`npm ci failed (${outcome(result)}). ${npmAdvice(result.stderr)}`);
  }
}

function npm(root, args) {
  const cli = process.env.npm_execpath ?? "";
  if (/npm-cli\.[cm]?js$/.test(cli)) return run(root, process.execPath, [cli, ...args]);
  return run(root, "npm", args, { shell: process.platform === "win32" });
}

function npmAdvice(output) {
  if (/EUSAGE/.test(output)) {
    return "If package.json was changed, bring package-lock.json up to date: npm install";
  }
  if (/ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|ENOTCACHED|network/.test(output)) {
    return (
      "The package registry cannot be reached. Connect to the network once and run the same " +
      "command again, or copy node_modules from a clone that has the same package-lock.json."
    );
  }
  return "npm's own words are above. Mend that, then run the same command again.";
}

/** Compiles src and returns each file of dist with its size. */
function build(root) {
  say("building dist (tsc)");
  const dist = join(root, "dist");
  const next = join(dist, `.next-${process.pid}`);
  for (const name of readdirSync(dist)) {
    if (name.startsWith(".next-")) rmSync(join(dist, name), { recursive: true });
  }
  const compile = ["-p", "tsconfig.build.json", "--outDir", next];
  const result = run(root, process.execPath, [compilerPath(root), ...compile]);
  if (result.status !== 0) {
    rmSync(next, { recursive: true, force: true });
    process.stderr.write(result.stdout + result.stderr);
    throw new SetupError(`the build failed (${outcome(result)}). Mend the errors above.`);
  }
  if (existsSync(join(next, "cli/bin.js"))) chmodSync(join(next, "cli/bin.js"), 0o755);
  return publish(root, dist, next);
}

function publish(root, dist, next) {
  const files = walk(next);
  const outputs = Object.fromEntries(files.map((file) => [file, statSync(join(next, file)).size]));
  rmSync(stampPath(root), { force: true });
  removeStale(dist, new Set(files));
  for (const file of files) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    renameSync(join(next, file), join(dist, file));
  }
  rmSync(next, { recursive: true, force: true });
  return outputs;
}

/** Removes what the last build left and this one does not make; dot names at the top are ours. */
function removeStale(dist, wanted, prefix = "") {
  for (const entry of readdirSync(join(dist, prefix), { withFileTypes: true })) {
    const file = prefix + entry.name;
    if (file.startsWith(".") || wanted.has(file)) continue;
    if (!entry.isDirectory()) {
      rmSync(join(dist, file));
      continue;
    }
    removeStale(dist, wanted, `${file}/`);
    if (readdirSync(join(dist, file)).length === 0) rmdirSync(join(dist, file));
  }
}

// --- one at a time --------------------------------------------------------------------------------

/** A lock of another machine, on a shared disk, cannot be asked whether it lives. */
const FOREIGN_LOCK_MS = 10 * 60_000;
const POLL_MS = 50;
const SAY_WAITING_MS = 1000;

function withLock(root, work) {
  const dist = join(root, "dist");
  const lock = join(dist, ".setup-lock");
  try {
    mkdirSync(dist, { recursive: true });
    acquire(lock);
  } catch (error) {
    throw new SetupError(
      `dist cannot be written (${error.code ?? error.message}). ` +
        "Allow writing in the folder of the clone, then run the same command again.",
    );
  }
  try {
    work();
  } finally {
    removeLock(lock);
  }
}

function acquire(lock) {
  const started = Date.now();
  let said = false;
  while (!tryLock(lock)) {
    const owner = readOwner(lock);
    if (owner !== undefined && isAbandoned(lock, owner)) {
      takeAway(lock, owner);
      continue;
    }
    if (!said && Date.now() - started > SAY_WAITING_MS) {
      said = true;
      say(
        `waiting for process ${owner?.pid ?? "?"}, which is setting up ` +
          "(if it is not, delete dist/.setup-lock)",
      );
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}

/** The folder appears with its owner inside, in one rename. */
function tryLock(lock) {
  if (existsSync(lock)) return false;
  const mine = `${lock}-${process.pid}`;
  mkdirSync(mine, { recursive: true });
  writeFileSync(join(mine, "owner"), JSON.stringify({ pid: process.pid, host: hostname() }));
  try {
    renameSync(mine, lock);
    return true;
  } catch (error) {
    rmSync(mine, { recursive: true, force: true });
    if (existsSync(lock) || error.code === "ENOTEMPTY" || error.code === "EEXIST") return false;
    throw error;
  }
}

/** Undefined when the lock has just gone. */
function readOwner(lock) {
  const text = readIfThere(join(lock, "owner"));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function isAbandoned(lock, owner) {
  if (owner.host !== hostname()) {
    const stat = statSync(lock, { throwIfNoEntry: false });
    return stat !== undefined && Date.now() - stat.mtimeMs > FOREIGN_LOCK_MS;
  }
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return error.code !== "EPERM";
  }
}

/** Takes an abandoned lock away, and gives it back if a quicker process had already replaced it. */
function takeAway(lock, abandoned) {
  const aside = `${lock}-of-${abandoned.pid}-${process.pid}`;
  tryTo(() => {
    renameSync(lock, aside);
    if (readOwner(aside)?.pid === abandoned.pid) rmSync(aside, { recursive: true });
    else renameSync(aside, lock);
  });
}

function removeLock(lock) {
  const aside = `${lock}-done-${process.pid}`;
  tryTo(() => {
    renameSync(lock, aside);
    rmSync(aside, { recursive: true });
  });
}

// --- small parts ----------------------------------------------------------------------------------

const stampPath = (root) => join(root, "dist/.stamp");
const markerPath = (root) => join(root, "node_modules/.lockedroom-lock");
const compilerPath = (root) => join(root, "node_modules/typescript/bin/tsc");

function dependenciesHash(root) {
  const lock = readIfThere(join(root, "package-lock.json"));
  return lock === undefined ? undefined : sha256(lock);
}

function sha256(content) {
  return builtin("node:crypto").createHash("sha256").update(content).digest("hex");
}

function hostname() {
  return builtin("node:os").hostname();
}

function run(root, command, args, options = {}) {
  return builtin("node:child_process").spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
}

function outcome({ status, signal, error }) {
  return error?.message ?? (signal === null ? `exit code ${status}` : `stopped by ${signal}`);
}

/** The files below a folder, sorted, with forward slashes; none when it is not there. */
function walk(folder, prefix = "") {
  if (!existsSync(folder)) return [];
  const files = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = prefix + entry.name;
    if (entry.isDirectory()) files.push(...walk(join(folder, entry.name), `${name}/`));
    else files.push(name);
  }
  return files.sort();
}

function readIfThere(file, encoding = "utf8") {
  try {
    return readFileSync(file, encoding);
  } catch {
    return undefined;
  }
}

function tryTo(action) {
  try {
    action();
  } catch {
    // What was tried is a convenience: nothing later relies on it.
  }
}

function say(sentence) {
  process.stderr.write(`lockedroom: ${sentence}\n`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  readyOrExit({ install: !process.argv.includes("--no-install") });
}
