/** The checks of `gate --verified` and `gate --require-seal`, with their cost said beforehand. */

import { Option } from "commander";
import { usageError } from "../core/errors.ts";
import type { FurtherChecks, GateOptions } from "../gate/gate.ts";
import type { Run } from "../runs/reader.ts";
import { PARTS, type PartName } from "../runs/verification.ts";
import type { CostOptions } from "../verify/cost.ts";
import { stagedProgress } from "./progress.ts";
import { counted, err, wrap } from "./terminal.ts";

export interface CheckFlags {
  readonly verified?: true;
  readonly verifySample?: number;
  readonly verifyFrom?: string;
  readonly verifyOnly?: readonly PartName[];
  readonly requireSeal?: string;
}

/** For completions of what is not a checkpoint; the report records it. */
export const VERIFY_ONLY = new Option(
  "--verify-only <parts...>",
  "of --verified: only these parts, such as score; the report says so",
).choices(PARTS.filter((part) => part !== "train"));

export function furtherChecks(flags: CheckFlags): GateOptions["further"] {
  const { verified, requireSeal: key } = flags;
  if (!verified && (flags.verifySample ?? flags.verifyFrom ?? flags.verifyOnly) !== undefined)
    throw usageError(
      "--verify-sample, --verify-from and --verify-only need --verified",
      "Add --verified.",
    );
  if (!verified && key === undefined) return undefined;
  return async (baseline, candidate) => {
    // Loaded lazily: a gate without these flags needs no engine.
    const { checkSeals, scorerOf, verifyBoth } = await import("../verify/gate-checks.ts");
    const seals: FurtherChecks =
      key === undefined ? { reasons: [] } : await checkSeals(baseline, candidate, key);
    if (!verified) return seals;
    const { verifySample: sample, verifyFrom: from, verifyOnly: only } = flags;
    const options = { sample, from, only };
    await sayCost(baseline, options);
    await sayCost(candidate, { ...options, scorer: scorerOf(baseline, {}) });
    const progress = stagedProgress(false);
    try {
      const found = await verifyBoth(baseline, candidate, {
        ...options,
        onProgress: progress.show,
        openJudge: async (identity) => {
          const { openRecordedJudge } = await import("./recorded-judge.ts");
          const { JUDGE_CACHE } = await import("./open-judge.ts");
          return openRecordedJudge(identity, JUDGE_CACHE);
        },
      });
      return { ...seals, ...found, reasons: [...seals.reasons, ...found.reasons] };
    } finally {
      progress.stop();
    }
  };
}

/** On stderr: the report on stdout does not depend on the clock. */
async function sayCost(run: Run, options: CostOptions): Promise<void> {
  const { costOf } = await import("../verify/cost.ts");
  const { rows, completions, seconds } = await costOf(run, options);
  const work = `${counted(rows, "row")} to score, ${counted(completions, "completion")} to sample`;
  const time = seconds === undefined ? "" : `, about ${Math.ceil(seconds)} s`;
  err(wrap(`Verifying ${run.dir}: ${work}${time}`));
}
