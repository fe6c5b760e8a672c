/**
 * KTO: completions labelled good or bad, without pairs. The baseline is the KL to the reference,
 * estimated on mismatched prompts and completions and passed as `shift`, without a gradient.
 */

import { z } from "zod";
import { add, mul, sigmoid, sub } from "../../graph/ops/elementwise.ts";
import { sum } from "../../graph/ops/reduce.ts";
import type { Algorithm } from "../algorithm.ts";
import { completionLogprobs, logRatios } from "../parts/preference.ts";

export const ktoSettings = z.strictObject({
  beta: z
    .number()
    .positive()
    .default(0.1)
    .describe("KL regularisation; smaller values allow more change from the initial policy"),
  desirable: z.number().min(0).default(1).describe("weight of good completions"),
  undesirable: z.number().min(0).default(1).describe("weight of bad completions"),
});

export const kto: Algorithm<z.infer<typeof ktoSettings>> = {
  name: "kto",
  about: "completions labelled good or bad, without pairs",
  needs: "labels",
  settings: ktoSettings,
  defaults: { steps: 200 },
  columns: { reference: "token", good: "row", shift: "row", share: "row" },
  reference: true,
  reduction: () => "sequences",
  loss(inputs, { beta, desirable, undesirable }) {
    const { rowWeights, column } = inputs;
    const good = column("good");
    const bad = sub(1, good);
    const rewards = mul(logRatios(inputs), beta);
    const ahead = sub(rewards, mul(column("shift"), beta));
    // σ(−x) = 1 − σ(x), with the sign of the label.
    const missing = (x: Parameters<typeof sigmoid>[0]) => sub(1, sigmoid(x));
    const losses = add(
      mul(mul(missing(ahead), good), desirable),
      mul(mul(missing(mul(ahead, -1)), bad), undesirable),
    );
    // 1 / rows of the same label: means over the good and the bad completions.
    const share = column("share");
    const side = (label: typeof good, x: typeof good) => sum(mul(mul(x, share), label));
    const logps = completionLogprobs(inputs);
    const [chosen, rejected] = [side(good, rewards), side(bad, rewards)];
    return {
      loss: sum(mul(losses, rowWeights)),
      metrics: {
        sums: {
          "rewards/chosen": chosen,
          "rewards/rejected": rejected,
          "rewards/margin": sub(chosen, rejected),
          "logps/chosen": side(good, logps),
          "logps/rejected": side(bad, logps),
        },
      },
    };
  },
};
