import { expect, test } from "vitest";
import { algorithmOf } from "../learn/algorithms/index.ts";
import { trainSettings } from "../learn/settings.ts";
import { lossCallOf } from "../learn/update.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { checkpointOf } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { engineContract } from "./engine.contract.ts";
import { LocalEngine, type LocalEngineOptions } from "./local-engine.ts";

const tokenizer = new CharacterTokenizer("0123456789+=");
const architecture = {
  ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
  ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
};
const start = checkpointOf({
  ...{ architecture, tokenizer, trained: null, maxLength: 32 },
  parameters: initialise(architecture, 3).map((x) => (x === 1 ? 1 : 8 * x)),
});
const sft = algorithmOf("sft");

function local(options: Partial<LocalEngineOptions> = {}) {
  return {
    prompts: ["1+2=", "10+5=", "7="],
    open: async () => new LocalEngine(start, { threads: 1, ...options }),
    loss: ({ can }: LocalEngine) => lossCallOf(can, sft, trainSettings(sft, { steps: 9 }), 6),
  };
}

engineContract("the embedded engine", local() as never);
engineContract("the embedded engine with adapters", {
  ...local({ lora: { rank: 2, alpha: 4, targets: ["q_proj", "v_proj"] }, seed: 1 }),
} as never);

test("without a reservation it takes rows of any length that the policy reads", async () => {
  const engine = new LocalEngine(start, { threads: 1 });
  const [sample] = await engine.sample([{ prompt: [1, 3], address: ["free"] }], {
    ...{ temperature: 0, top_k: 0, top_p: 1, max_tokens: 3, stop: [], seed: 0 },
  });
  expect(sample?.tokens.length).toBeLessThanOrEqual(3);
  await engine.close();
});
