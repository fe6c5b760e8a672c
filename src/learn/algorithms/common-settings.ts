/** Settings that several methods have, each with its own default. */

import { z } from "zod";
import { REDUCTIONS } from "../../engine/loss.ts";

export const reduction = z.enum(REDUCTIONS).describe("how the tokens of a batch are weighed");
export const epochs = z.int().min(1).describe("how often each batch is used");
export const minibatches = z.int().min(1).describe("updates made of a batch in each epoch");
