/** Settings that several methods have, each with its own default. */

import { z } from "zod";
import { REDUCTIONS } from "../../engine/loss.ts";

export const reduction = z.enum(REDUCTIONS).describe("loss aggregation over the tokens of a batch");
export const epochs = z.int().min(1).describe("epochs per batch");
export const minibatches = z.int().min(1).describe("updates per epoch of a batch");
