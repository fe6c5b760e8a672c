/**
 * `npm run test:formats`: exports recorded trajectories with the built command, reads each file with the
 * library of its format, and imports what the library then writes. The libraries live in .formats-venv, which this script makes (about 1 GB,
 * from PyPI); `-- --install` makes it anew.
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const HERE = path.join(ROOT, "scripts/formats");
const VENV = path.join(ROOT, ".formats-venv");
const PYTHON = path.join(VENV, process.platform === "win32" ? "Scripts/python" : "bin/python");
const RECORDED = path.join(ROOT, "tests/fixtures/trajectory-formats");
const FORMATS = ["art", "verifiers", "openenv", "atif", "trl", "trl-messages"];

const requirements = path.join(HERE, "requirements.txt");
const libraries = path.join(HERE, "libraries.txt");

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: "inherit", cwd: ROOT });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** The environment is made once for each content of the two lists. */
function install() {
  const hash = createHash("sha256");
  for (const file of [requirements, libraries]) hash.update(readFileSync(file));
  const wanted = hash.digest("hex");
  const stamp = path.join(VENV, "lockedroom-installed");
  const found = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
  if (found === wanted && !process.argv.includes("--install")) return;
  console.log("Installing the libraries into .formats-venv (some minutes, once)");
  rmSync(VENV, { recursive: true, force: true });
  run(process.env.LOCKEDROOM_PYTHON ?? "python3", ["-m", "venv", VENV]);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  run(PYTHON, [...pip, "-r", requirements]);
  // Harbor asks for Python 3.12 as a whole; its models run on 3.11.
  run(PYTHON, [...pip, "--no-deps", "--ignore-requires-python", "-r", libraries]);
  writeFileSync(stamp, wanted);
}

function exportAll(folder) {
  const source = path.join(RECORDED, "trajectories.jsonl");
  for (const name of ["trajectories.jsonl", "failures.jsonl"]) {
    copyFileSync(path.join(RECORDED, name), path.join(folder, name));
  }
  for (const format of FORMATS) {
    const outfile = path.join(folder, `${format}.jsonl`);
    const command = ["dist/cli/bin.js", "export", "trajectories", source];
    run(process.execPath, [...command, "--format", format, "--outfile", outfile, "--quiet"]);
  }
}

/** What a library read and wrote again still gives the same trajectories. */
function importAll(folder) {
  const wanted = readFileSync(path.join(RECORDED, "trajectories.jsonl"), "utf8");
  const changed = FORMATS.filter((format) => {
    const file = path.join(folder, `again-${format}.jsonl`);
    const outdir = path.join(folder, `in-${format}`);
    const command = ["dist/cli/bin.js", "import", "trajectories", file];
    run(process.execPath, [...command, "--format", format, "--outdir", outdir, "--quiet"]);
    return readFileSync(path.join(outdir, "trajectories.jsonl"), "utf8") !== wanted;
  });
  for (const format of changed) console.log(`FAIL  ${format}: imported otherwise than exported`);
  console.log(`${FORMATS.length - changed.length} passed, ${changed.length} failed`);
  process.exitCode = changed.length > 0 ? 1 : 0;
}

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-formats-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
install();
exportAll(folder);
run(PYTHON, [path.join(HERE, "read_exports.py"), folder]);
importAll(folder);
