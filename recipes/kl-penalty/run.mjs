// `node recipes/kl-penalty/run.mjs`: reward and KL divergence for several KL coefficients.
import { copyFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import {
  DEV,
  fixed,
  lockedroom,
  PI0,
  publish,
  readJson,
  root,
  runFolder,
  TRAIN,
  table,
} from "../lib.mjs";

const BETAS = [0, 0.03, 0.1, 0.3, 1];
const outdir = runFolder("kl-penalty");
lockedroom(
  ...["sweep", "grpo", "--over", `kl.coefficient=${BETAS.join(",")}`, "--set", "kl.mode=fixed"],
  ...["--init", PI0, "--dataset", TRAIN, "--dev", DEV, "--steps", 40, "--lr", 0.0002],
  ...["--seed", 0, "--threads", 2, "--outdir", outdir],
);
const { points } = readJson(outdir, "sweep.json");
const folder = path.dirname(fileURLToPath(import.meta.url));
for (const file of ["tradeoff.json", "tradeoff.svg"]) {
  copyFileSync(path.join(root, outdir, file), path.join(folder, file));
}
const three = fixed(3);
publish(
  import.meta.url,
  points.map(({ run: _, ...point }) => point),
  table(
    ["β", "dev pass@1", "exact KL to π₀", "entropy"],
    points.map(({ value, pass_rate, kl_exact, entropy }) => [
      value,
      three(pass_rate),
      three(kl_exact),
      three(entropy),
    ]),
  ),
);
