// `node recipes/grpo/run.mjs`: learning, and the same number reached by selection, before the gate.
import path from "node:path";
import {
  attempt,
  fixed,
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
  table,
  train,
} from "../lib.mjs";

const run = train(runFolder("grpo", "train"), "grpo", { config: "recipes/grpo/recipe.yaml" });
const learned = path.join(run, "checkpoint");
const [before, after] = [
  measure("grpo/before", PI0, HOLDOUT),
  measure("grpo/after", learned, HOLDOUT),
];
const packs = {
  before: select("grpo/pi0", PI0, HOLDOUT),
  after: select("grpo/learned", learned, HOLDOUT),
};
const gate = (candidate, claim, allowed) =>
  attempt(
    allowed,
    "gate",
    "--baseline",
    before,
    "--candidate",
    candidate,
    "--claim",
    claim,
    "--format",
    "json",
  );
const promoted = JSON.parse(gate(after, "policy", [0]).stdout);
const one = runFolder("grpo", "one");
lockedroom(
  ...["selection-demo", "--quiet", "--dataset", HOLDOUT, "--n", 1, "--outdir", one],
  ...["--samples", "runs/recipes/grpo/pi0/pack/samples.jsonl"],
);
const chosen = attempt(
  ...[[0, 1, 2, 3], "gate", "--baseline", one, "--candidate", packs.before],
  ...["--claim", "policy", "--format", "json"],
);
const refused = JSON.parse(chosen.stdout);
const evaluations = readLines(run, "evaluations.jsonl");
const last = evaluations.at(-1);
const figures = {
  holdout_pass_at_1: { before: passRate(before), after: passRate(after) },
  pass_at_8: { before: passAt(packs.before, 8), after: passAt(packs.after, 8) },
  best_of_8_of_pi0: passRate(packs.before),
  gate_on_learning: { decision: promoted.decision, knobs: promoted.knobs },
  gate_on_selection: { decision: refused.decision, knobs: refused.knobs },
  kl_exact: last.kl_exact,
  entropy: { before: evaluations[0].entropy, after: last.entropy },
};
const two = fixed(3);
publish(
  import.meta.url,
  figures,
  table(
    ["holdout", "π₀", "after GRPO"],
    [
      ["pass@1", two(figures.holdout_pass_at_1.before), two(figures.holdout_pass_at_1.after)],
      ["pass@8", two(figures.pass_at_8.before), two(figures.pass_at_8.after)],
      ["best of 8 picked by the verifier", two(figures.best_of_8_of_pi0), ""],
      ["entropy, nats per token (dev)", two(figures.entropy.before), two(figures.entropy.after)],
      ["exact KL to π₀, nats per token (dev)", "0", two(figures.kl_exact)],
      [
        "gate, claim policy",
        `${figures.gate_on_selection.decision} (best of 8: ${figures.gate_on_selection.knobs.join(", ")})`,
        figures.gate_on_learning.decision,
      ],
    ],
  ),
);
console.log(`\n${Math.round(secondsOf(run))} s of training on this machine`);
