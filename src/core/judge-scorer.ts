/** A judge as a manifest names who scored. */

import type { JudgeIdentity } from "./judge.ts";
import type { ScorerIdentity } from "./score.ts";

/** A model behind an endpoint may answer otherwise next time, so it is never called deterministic. */
export function scorerOfJudge({
  name,
  version,
  rubric,
  fingerprint,
}: Pick<JudgeIdentity, "name" | "version" | "rubric" | "fingerprint">): ScorerIdentity {
  return {
    ...{ name, version, spec: rubric, source_sha256: fingerprint, path: null },
    ...{ deterministic: false, range: [0, 1] },
  };
}
