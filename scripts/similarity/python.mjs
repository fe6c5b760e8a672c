/** The Python environment of `npm run check:similarity`, in an ignored folder and made once. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../.similarity-venv/", import.meta.url));
const PACKAGES = ["rapidfuzz==3.14.6", "nltk==3.10.4", "rouge-score==0.1.2", "sacrebleu==2.6.0"];

/** Its interpreter; undefined when this machine has no Python that can make environments. */
export function similarityPython() {
  const python = process.env.LOCKEDROOM_PYTHON ?? "python3";
  if (spawnSync(python, ["-c", "import pip, venv"]).status !== 0) return undefined;
  const stamp = path.join(FOLDER, "made.json");
  const interpreter = path.join(FOLDER, "bin/python");
  const wanted = JSON.stringify(PACKAGES);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return interpreter;
  rmSync(FOLDER, { recursive: true, force: true });
  run(python, ["-m", "venv", FOLDER]);
  run(interpreter, ["-m", "pip", "install", "--quiet", "--no-cache-dir", ...PACKAGES]);
  writeFileSync(stamp, wanted);
  return interpreter;
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0)
    throw new Error(`${program} ${args.join(" ")} failed${error ? `: ${error}` : ""}`);
}
