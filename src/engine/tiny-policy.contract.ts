/** A tiny policy and a loss, ready for the test of an engine. */

import { algorithmOf } from "../learn/algorithms/index.ts";
import { trainSettings } from "../learn/settings.ts";
import { lossCallOf } from "../learn/update.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { checkpointOf } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import type { Engine } from "./engine.ts";
import type { LossCall } from "./loss.ts";

const tokenizer = new CharacterTokenizer("0123456789+=");
const architecture = {
  ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
  ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
};
const sft = algorithmOf("sft");

/** Its weights are larger than initial ones, so that its next-token distributions are not flat. */
export const TINY_POLICY = checkpointOf({
  ...{ architecture, tokenizer, trained: null, maxLength: 32 },
  parameters: initialise(architecture, 3).map((x) => (x === 1 ? 1 : 8 * x)),
});

/** Prompts that it can read. */
export const TINY_PROMPTS = ["1+2=", "10+5=", "7="];

/** Makes the completions of rows more likely. */
export function sftLoss({ can }: Engine): LossCall {
  return lossCallOf(can, sft, trainSettings(sft, { steps: 9 }), 6);
}
