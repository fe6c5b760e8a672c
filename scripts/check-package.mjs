/**
 * Checks the package as its users get it: packs it, has its exports and types looked at, and installs
 * it into empty folders, with and without onnxruntime-node, to compile against it and run the tour.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readyOrExit } from "./setup.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TOOLS = join(ROOT, "node_modules/.bin");
const { exports: subpaths, devDependencies } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);

const STRICT = {
  compilerOptions: {
    target: "ES2023",
    module: "nodenext",
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  },
};

/** Runs a program, shows its output when it fails, and returns it. */
function run(cwd, program, ...args) {
  process.stdout.write(`${program.replace(`${TOOLS}/`, "")} ${args.join(" ")}\n`);
  const shell = process.platform === "win32";
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, shell, encoding: "utf8" });
  if (status === 0) return stdout;
  process.stderr.write(`${stdout ?? ""}${stderr ?? ""}`);
  throw new Error(`${program} failed in ${cwd}`);
}

/** A file that imports the package and every subpath that has types. */
function importsOfEverything() {
  const names = Object.keys(subpaths).filter((name) => subpaths[name].types !== undefined);
  const lines = names.map(
    (name, i) => `import * as m${i} from "${name.replace(".", "lockedroom")}";`,
  );
  return `${lines.join("\n")}\nexport default [${names.map((_, i) => `m${i}`)}];\n`;
}

function install(work, name, ...packages) {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(STRICT));
  writeFileSync(join(folder, "all.ts"), importsOfEverything());
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  run(folder, "npm", "install", ...flags, ...packages);
  return folder;
}

const pinned = (name) => `${name}@${devDependencies[name]}`;

function checkPackage(work) {
  const [{ filename }] = JSON.parse(run(ROOT, "npm", "pack", "--json", "--pack-destination", work));
  const tarball = join(work, filename);
  run(ROOT, join(TOOLS, "publint"), "run", tarball, "--strict");
  run(ROOT, join(TOOLS, "attw"), tarball, "--profile", "esm-only");
  // Neither has @types/node: our types must not need it.
  const alone = install(work, "alone", tarball);
  const engine = install(work, "engine", tarball, pinned("onnxruntime-node"));
  for (const folder of [alone, engine]) run(folder, join(TOOLS, "tsc"), "-p", ".");
  run(alone, "npx", "--no-install", "lockedroom", "tour");
}

readyOrExit();
const work = mkdtempSync(join(tmpdir(), "lockedroom-package-"));
try {
  checkPackage(work);
  process.stdout.write("The package is in order.\n");
} finally {
  rmSync(work, { recursive: true, force: true });
}
