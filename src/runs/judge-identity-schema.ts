/** The judge as files record it: an instrument, like a scorer. */

import { z } from "zod";
import type { JudgeIdentity } from "../core/judge.ts";
import { hash } from "./schema-parts.ts";

export const judgeIdentitySchema = z.strictObject({
  kind: z.literal("judge"),
  name: z.string(),
  version: z.string(),
  endpoint: z.string(),
  rubric: z.string(),
  rubric_sha256: hash,
  sampling: z.strictObject({
    temperature: z.number(),
    top_k: z.number(),
    top_p: z.number(),
    max_tokens: z.number(),
    seed: z.number(),
  }),
  fingerprint: hash,
}) satisfies z.ZodType<JudgeIdentity>;
