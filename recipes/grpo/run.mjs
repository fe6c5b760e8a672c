// `node recipes/grpo/run.mjs`: trains with GRPO, and compares learning and selection with the gate.
import path from "node:path";
import {
  fixed,
  gateDecision,
  HOLDOUT,
  lockedroom,
  measure,
  PI0,
  passAt,
  passRate,
  publish,
  readLines,
  runFolder,
  secondsOf,
  select,
  shownDecision,
  table,
  train,
} from "../lib.mjs";

const run = train(runFolder("grpo", "train"), "grpo", { config: "recipes/grpo/recipe.yaml" });
const policies = { before: PI0, after: path.join(run, "checkpoint") };
const both = (look) => ({ before: look("before"), after: look("after") });
const sampled = both((when) => measure(`grpo/${when}`, policies[when], HOLDOUT));
const greedy = both((when) => measure(`grpo/${when}-greedy`, policies[when], HOLDOUT, 0));
const packs = both((when) => select(`grpo/${when}-pack`, policies[when], HOLDOUT));
const one = runFolder("grpo", "one");
lockedroom(
  ...["selection-demo", "--quiet", "--dataset", HOLDOUT, "--n", 1, "--outdir", one],
  ...["--samples", "runs/recipes/grpo/before-pack/pack/samples.jsonl"],
);

const evaluations = readLines(run, "evaluations.jsonl");
const last = evaluations.at(-1);
const figures = {
  pass_at_1: both((when) => passAt(packs[when], 1)),
  pass_at_8: both((when) => passAt(packs[when], 8)),
  greedy: both((when) => passRate(greedy[when])),
  single_sample: both((when) => passRate(sampled[when])),
  best_of_8_of_pi0: passRate(packs.before),
  gate_on_learning: gateDecision(sampled.before, sampled.after),
  gate_on_greedy: gateDecision(greedy.before, greedy.after),
  gate_on_selection: gateDecision(one, packs.before),
  kl_exact: last.kl_exact,
  entropy: { before: evaluations[0].entropy, after: last.entropy },
};
const three = fixed(3);
const row = (name, { before, after }, decision = "") => [
  name,
  three(before),
  three(after),
  decision,
];
publish(
  import.meta.url,
  figures,
  table(
    ["holdout", "π₀", "after GRPO", "gate, claim policy"],
    [
      row("pass@1, temperature 1, mean of 8 samples", figures.pass_at_1),
      row("one sample", figures.single_sample, shownDecision(figures.gate_on_learning)),
      row("greedy", figures.greedy, shownDecision(figures.gate_on_greedy)),
      row("pass@8", figures.pass_at_8),
      [
        ...["best of 8, selected by the scorer", three(figures.best_of_8_of_pi0), ""],
        shownDecision(figures.gate_on_selection),
      ],
      row("entropy, nats per token (dev)", figures.entropy),
      ["exact KL to π₀, nats per token (dev)", "0", three(figures.kl_exact), ""],
    ],
  ),
);
console.log(`\n${Math.round(secondsOf(run))} s of training on this machine`);
