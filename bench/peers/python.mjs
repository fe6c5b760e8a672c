// The Python environment of the peers: installed on request, named, or the one installed before.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const VENV = fileURLToPath(new URL("../.peers-venv", import.meta.url));
const INSTALLED = `${VENV}/${process.platform === "win32" ? "Scripts/python.exe" : "bin/python"}`;
const REQUIREMENTS = fileURLToPath(new URL("requirements.txt", import.meta.url));

const USAGE = 64;
const NEEDED = "torch, transformers, trl and datasets";

/** The interpreter that the flags ask for; ends the process with a usage error where there is none. */
export function pythonOf({ python, install }, command) {
  if (install) installEnvironment();
  const found = python ?? INSTALLED;
  if (!python && !existsSync(INSTALLED)) {
    refuse(
      `there is no Python environment with ${NEEDED} yet.`,
      `Make one with \`${command} -- --install\` (several GB), or name one with \`${command} -- --python PATH\`.`,
    );
  }
  const { status, stderr, error } = spawnSync(found, ["-c", `import ${modules()}`], {
    encoding: "utf8",
  });
  if (status !== 0) {
    const last = error?.message ?? stderr.trim().split("\n").at(-1);
    refuse(
      `${found} cannot import ${NEEDED}: ${last}`,
      `Install bench/peers/requirements.txt there, or use \`${command} -- --install\`.`,
    );
  }
  return found;
}

/** Prints a sentence and a next step, and exits with the code for wrong usage. */
export function refuse(what, next) {
  console.error(`error: ${what}\n${next}`);
  process.exit(USAGE);
}

function modules() {
  return NEEDED.replace(" and ", ", ");
}

function installEnvironment() {
  // A half-made environment would look complete to the next run.
  rmSync(VENV, { recursive: true, force: true });
  const base = process.env.LOCKEDROOM_PYTHON ?? "python3";
  run(base, ["-m", "venv", VENV]);
  run(INSTALLED, ["-m", "pip", "install", "--requirement", REQUIREMENTS]);
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, { stdio: "inherit" });
  if (status === 0) return;
  rmSync(VENV, { recursive: true, force: true });
  refuse(
    `${program} ${args.join(" ")} failed${error ? `: ${error.message}` : ""}.`,
    "Python 3.10 or newer with venv and pip is needed; LOCKEDROOM_PYTHON names another than python3.",
  );
}
