/** Any JSON object, with the type that the rest of the project has for it. */

import { z } from "zod";
import type { JsonObject } from "../core/json.ts";

export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), z.json());
