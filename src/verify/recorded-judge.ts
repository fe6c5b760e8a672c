/** The judge that a manifest names. */

import type { GroupJudge, JudgeIdentity } from "../core/judge.ts";

/** Opens it; its answers may be in a cache. */
export type OpenRecordedJudge = (identity: JudgeIdentity) => Promise<GroupJudge>;
