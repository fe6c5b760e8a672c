/** The error of a loss that is no longer a number, or far above the first one. */

import path from "node:path";
import { dataError } from "../core/errors.ts";
import type { Described } from "./describe-run.ts";
import { usualRate } from "./settings.ts";

export function explosion(
  { algorithm, options, settings }: Described,
  step: number,
  loss: number,
): Error {
  const { outdir, saveEvery } = options;
  const good = Math.floor((step - 1) / saveEvery) * saveEvery;
  const { peak } = settings.rate;
  const usual = usualRate(algorithm);
  const lower =
    peak > usual
      ? `The learning rate of ${peak} is too high: the default of ${algorithm.name} is ${usual}. Start again with --lr ${usual}.`
      : "Lower the learning rate and start again.";
  return dataError(
    `the loss became ${Number.isFinite(loss) ? loss.toPrecision(3) : "NaN or infinite"} at step ${step}`,
    good > 0
      ? `The last good checkpoint is that of step ${good}, in ${path.join(outdir, "checkpoint")}. ${lower}`
      : `No checkpoint was saved before. ${lower}`,
  );
}
