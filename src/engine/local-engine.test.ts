import { expect, test } from "vitest";
import { loadCheckpoint } from "../policy/checkpoint.ts";
import { type EngineUnderTest, engineContract } from "./engine.contract.ts";
import { LocalEngine, type LocalEngineOptions } from "./local-engine.ts";
import { sftLoss, TINY_POLICY, TINY_PROMPTS } from "./tiny-policy.contract.ts";

function local(options: Partial<LocalEngineOptions> = {}): EngineUnderTest {
  return {
    prompts: TINY_PROMPTS,
    open: async () => new LocalEngine(TINY_POLICY, { threads: 1, ...options }),
    loss: sftLoss,
    trainedIn: async (dir) => (await loadCheckpoint(dir)).trained,
  };
}

const lora = { rank: 2, alpha: 4, targets: ["q_proj", "v_proj"] as const };

engineContract("the embedded engine", local());
engineContract("the embedded engine with adapters", local({ lora, seed: 1 }));

test("without a reservation it takes rows of any length that the policy reads", async () => {
  const engine = new LocalEngine(TINY_POLICY, { threads: 1 });
  const [sample] = await engine.sample([{ prompt: [1, 3], address: ["free"] }], {
    ...{ temperature: 0, top_k: 0, top_p: 1, max_tokens: 3, stop: [], seed: 0 },
  });
  expect(sample?.tokens.length).toBeLessThanOrEqual(3);
  await engine.close();
});
