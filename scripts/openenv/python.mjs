/**
 * The Python environments of `npm run test:openenv`, in an ignored folder and made once: one with
 * openenv, one with verifiers, whose own requirements do not allow the newest openenv.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../.openenv/", import.meta.url));

export const PACKAGES = {
  openenv: ["openenv==0.10.0"],
  verifiers: ["verifiers[openenv]==0.4.0", "openenv==0.4.1"],
};

/** The interpreter of each environment; undefined when this machine has no Python that can do. */
export function pythons() {
  const python = process.env.LOCKEDROOM_PYTHON ?? "python3";
  if (!hasPython(python)) return undefined;
  const stamp = path.join(FOLDER, "made.json");
  const wanted = JSON.stringify(PACKAGES);
  const interpreters = Object.fromEntries(
    Object.keys(PACKAGES).map((name) => [name, path.join(FOLDER, name, "bin/python")]),
  );
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return interpreters;
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  const uv = path.join(FOLDER, "uv/bin/uv");
  run(python, [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--root-user-action=ignore",
    "--target",
    path.join(FOLDER, "uv"),
    "uv",
  ]);
  for (const [name, packages] of Object.entries(PACKAGES)) {
    run(uv, ["venv", "--quiet", "--python", python, path.join(FOLDER, name)]);
    const where = ["--python", interpreters[name], ...index(python)];
    run(uv, ["pip", "install", "--quiet", ...where, ...packages]);
  }
  writeFileSync(stamp, wanted);
  return interpreters;
}

/** verifiers needs 3.11. */
function hasPython(python) {
  const test = "import pip, sys; sys.exit(0 if sys.version_info >= (3, 11) else 1)";
  return spawnSync(python, ["-c", test]).status === 0;
}

/** uv does not read pip's settings, where a machine may name its own index. */
function index(python) {
  const { PIP_INDEX_URL } = process.env;
  const ask = ["-m", "pip", "config", "get", "global.index-url"];
  const { status, stdout } = spawnSync(python, ask, { encoding: "utf8" });
  const url = PIP_INDEX_URL ?? (status === 0 ? stdout.trim() : "");
  return url ? ["--index-url", url] : [];
}

function run(program, args) {
  const env = { ...process.env, UV_CACHE_DIR: path.join(FOLDER, "cache") };
  const { status, error } = spawnSync(program, args, {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0)
    throw new Error(`${program} ${args.join(" ")} failed${error ? `: ${error}` : ""}`);
}
