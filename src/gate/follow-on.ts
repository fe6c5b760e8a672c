/** Reasons that only repeat, in the rows, what the manifests have already said. */

import type { Reason } from "../runs/gate-report.ts";

/** By the code of a reason from the rows: codes of the manifests that explain it. */
const EXPLAINED_BY: ReadonlyMap<string, (code: string) => boolean> = new Map([
  ["rows_not_paired", (code: string) => code === "repeats_differ"],
  ["games_differ", (code: string) => /^seeds_|^examples?_|^split_|^environment_/.test(code)],
  ["judgements_differ", (code: string) => code === "judged_apart" || code === "judge_differs"],
  // Scorers that are known to differ may give different scores.
  [
    "instrument_inconsistent",
    (code: string) => /^scorer_|^instrument_changed|^environment_/.test(code),
  ],
]);

/** The reasons from the rows that say something new. */
export function withoutFollowOn(
  ofRows: readonly Reason[],
  ofManifests: readonly Reason[],
): Reason[] {
  return ofRows.filter(({ code }) => {
    const explains = EXPLAINED_BY.get(code);
    return !(explains && ofManifests.some((reason) => explains(reason.code)));
  });
}
