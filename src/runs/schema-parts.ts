/** Parts that the schemas of many files share. */

import { z } from "zod";
import type { JsonObject } from "../core/json.ts";

/** Any JSON object, with the project's type for it. */
export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), z.json());
export const hash = z.string().regex(/^[0-9a-f]{64}$/);
export const count = z.int().min(0);
