/** The judge that a manifest names, for a run that is made again. */

import type { GroupJudge, JudgeIdentity } from "../core/judge.ts";
import { EMBEDDED, judgeFlag } from "../core/judge-flag.ts";
import { openCache, openerOf } from "./open-judge.ts";
import { err, warning } from "./terminal.ts";

/**
 * With its own words, rubric and sampling. Its answers come from the cache where they are there, but
 * for the embedded judge, which costs nothing: what is in the cache may have been edited.
 */
export async function openRecordedJudge(
  identity: JudgeIdentity,
  cacheFolder: string,
): Promise<GroupJudge> {
  const onNotice = (text: string) => err(warning(text, ""));
  const { readRubric } = await import("../judge/rubric.ts");
  const open = openerOf(judgeFlag(identity));
  return open({
    rubric: readRubric(identity.rubric, "the manifest"),
    sampling: identity.sampling,
    cache: identity.endpoint === EMBEDDED ? undefined : await openCache(cacheFolder, onNotice),
    onNotice,
  });
}
