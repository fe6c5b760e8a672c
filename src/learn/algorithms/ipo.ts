/**
 * IPO: (Δ̄ − 1 / 2β)², with log-ratios per token. Unlike DPO the margin has a
 * finite target, so pairs are not pushed apart without limit.
 */

import { mul, square, sub } from "../../graph/ops/elementwise.ts";
import { sum } from "../../graph/ops/reduce.ts";
import type { Algorithm } from "../algorithm.ts";
import { logRatios, pairMetrics, pairsOf, pairWeights } from "../parts/preference.ts";
import { type DpoSettings, dpo } from "./dpo.ts";

export const ipo: Algorithm<DpoSettings> = {
  ...dpo,
  name: "ipo",
  about: "preference pairs: squared error to a fixed margin, per token",
  loss(inputs, { beta }) {
    const ratios = logRatios(inputs, true);
    const { chosen, rejected } = pairsOf(ratios);
    const missed = sub(sub(chosen, rejected), 1 / (2 * beta));
    return {
      loss: sum(mul(square(missed), pairWeights(inputs))),
      metrics: pairMetrics(inputs, mul(ratios, beta)),
    };
  },
};
