/** What gave the rewards of a run: a scorer, the environment of its episodes, or a judge. */

import type { Manifest } from "./schemas.ts";

export type InstrumentWord = "scorer" | "environment" | "judge";

export function instrumentWord({
  environment,
  judge,
}: Pick<Manifest, "environment" | "judge">): InstrumentWord {
  if (judge) return "judge";
  return environment ? "environment" : "scorer";
}

/** Before its name. */
export const MEASURED_BY: Readonly<Record<InstrumentWord, string>> = {
  scorer: "scored by",
  environment: "replayed in",
  judge: "judged by",
};
