/** Repeats a two-step run with a learner's update and our own world: `CACHE FILE OUTDIR`. */

import { pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { runTwoStep, type TwoStepUpdate } from "../learn/index.ts";
import { jitiOptions } from "./typescript.ts";

const [, , cache = "", file = "", outdir = ""] = process.argv;
const jiti = createJiti(import.meta.url, jitiOptions(cache));
const { update } = await jiti.import<{ update: TwoStepUpdate }>(file);
await runTwoStep({
  ...{ steps: 200, seed: 0, lr: 0.5, baseline: true, credit: "both" },
  ...{ outdir, update, module: pathToFileURL(file).href },
});
