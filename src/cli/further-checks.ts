/** The checks of `gate --verified` and `gate --require-seal`, with their cost said beforehand. */

import { usageError } from "../core/errors.ts";
import type { GateOptions } from "../gate/gate.ts";
import type { Run } from "../runs/reader.ts";
import { stagedProgress } from "./progress.ts";
import { counted, err, wrap } from "./terminal.ts";

export interface CheckFlags {
  readonly verified?: true;
  readonly verifySample?: number;
  readonly verifyFrom?: string;
  readonly requireSeal?: string;
}

export function furtherChecks(flags: CheckFlags): GateOptions["further"] {
  const { verified, requireSeal: key } = flags;
  if (!verified && (flags.verifySample ?? flags.verifyFrom) !== undefined)
    throw usageError("--verify-sample and --verify-from need --verified", "Add --verified.");
  if (!verified && key === undefined) return undefined;
  return async (baseline, candidate) => {
    // Loaded lazily: a gate without these flags needs no engine.
    const { scorerOf, sealReasons, verifyBoth } = await import("../verify/gate-checks.ts");
    const seals = key === undefined ? [] : await sealReasons(baseline, candidate, key);
    if (!verified) return { reasons: seals };
    const options = { sample: flags.verifySample, from: flags.verifyFrom };
    await sayCost(baseline, options);
    await sayCost(candidate, { ...options, scorer: scorerOf(baseline, options) });
    const progress = stagedProgress(false);
    try {
      const found = await verifyBoth(baseline, candidate, {
        ...options,
        onProgress: progress.show,
      });
      return { ...found, reasons: [...seals, ...found.reasons] };
    } finally {
      progress.stop();
    }
  };
}

/** On stderr: the report on stdout does not depend on the clock. */
async function sayCost(
  run: Run,
  options: {
    readonly sample: number | undefined;
    readonly from: string | undefined;
    readonly scorer?: string | undefined;
  },
): Promise<void> {
  const { costOf } = await import("../verify/cost.ts");
  const { rows, completions, seconds } = await costOf(run, options);
  const work = `${counted(rows, "row")} to score, ${counted(completions, "completion")} to sample`;
  const time = seconds === undefined ? "" : `, about ${Math.ceil(seconds)} s`;
  err(wrap(`Verifying ${run.dir}: ${work}${time}`));
}
