/** A judge as a measuring instrument. */

import { fingerprint } from "../core/fingerprint.ts";
import type { JudgeIdentity } from "../core/judge.ts";
import { PROMPT_VERSION } from "./group-request.ts";
import type { Rubric } from "./rubric.ts";

export function judgeIdentity(
  given: Pick<JudgeIdentity, "name" | "endpoint" | "sampling"> & { readonly rubric: Rubric },
): JudgeIdentity {
  const { name, endpoint, rubric } = given;
  const { temperature, top_k, top_p, max_tokens, seed } = given.sampling;
  const identity = {
    kind: "judge",
    name,
    version: PROMPT_VERSION,
    endpoint,
    rubric: rubric.text,
    rubric_sha256: rubric.sha256,
    sampling: { temperature, top_k, top_p, max_tokens, seed },
  } as const;
  return { ...identity, fingerprint: fingerprint(identity) };
}
