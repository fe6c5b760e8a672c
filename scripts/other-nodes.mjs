/**
 * Runs the tour and tests with the Node versions that CI does not have installed; npm has them as
 * packages. Of the tests, those of the folders that lean on Node itself (files, modules, processes,
 * sockets, native code) run, each with one of the versions. Arguments choose other tests, and each
 * version runs them all: `npm run check:nodes -- src tests/gate`.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readyOrExit } from "./setup.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const VERSIONS = [22, 24];
const WINDOWS = process.platform === "win32";
const PLATFORM = `${WINDOWS ? "win" : process.platform}-${process.arch}`;

/** The path of a Node of this version, or undefined where npm has none. */
function fetchNode(version, prefix) {
  const name = `node-${PLATFORM}`;
  mkdirSync(prefix);
  const flags = ["--no-save", "--ignore-scripts", "--prefer-offline", "--loglevel=error"];
  const args = ["install", ...flags, "--prefix", prefix, `${name}@${version}`];
  spawnSync("npm", args, { stdio: "inherit", shell: WINDOWS });
  const node = join(prefix, "node_modules", name, "bin", WINDOWS ? "node.exe" : "node");
  return existsSync(node) ? node : undefined;
}

function run(node, cwd, args, stdio) {
  const env = { ...process.env, PATH: dirname(node) + delimiter + process.env.PATH };
  const { status } = spawnSync(node, args, { cwd, env, stdio });
  if (status !== 0) throw new Error(`${node} ${args.join(" ")} ended with ${status}`);
}

function tryVersion(version, work, tests) {
  const node = fetchNode(version, join(work, `node-${version}`));
  if (node === undefined) {
    const sentence = `npm has no Node ${version} for ${PLATFORM}, or cannot be reached: not tried.`;
    if (process.env.CI === "true") throw new Error(sentence);
    process.stderr.write(`${sentence}\n`);
    return;
  }
  process.stdout.write(`\nNode ${version}: the tour, then ${tests.join(" ")}\n`);
  run(node, work, [join(ROOT, "dist/cli/bin.js"), "tour"], ["ignore", "ignore", "inherit"]);
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  run(
    node,
    ROOT,
    [vitest, "run", "--project", "quick", "--project", "quick-shared", ...tests],
    "inherit",
  );
}

readyOrExit();
const work = mkdtempSync(join(tmpdir(), "lockedroom-nodes-"));
const chosen = process.argv.slice(2);
const NEAR_NODE = [
  ...["core", "engine", "extensions", "http", "openenv", "policy", "providers", "runs"],
  ...["scorers", "serve"],
].map((folder) => `src/${folder}/`);
const share = (place) => [...NEAR_NODE, `--shard=${place + 1}/${VERSIONS.length}`];
try {
  for (const [place, version] of VERSIONS.entries())
    tryVersion(version, work, chosen.length > 0 ? chosen : share(place));
} finally {
  rmSync(work, { recursive: true, force: true });
}
