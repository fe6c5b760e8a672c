// `node recipes/sabotage/run.mjs`: four injected faults, and the alarms that detect them.
import { fixed, publish, readJson, readLines, runFolder, table, train } from "../lib.mjs";

const SABOTAGES = [
  { name: "none", expected: "" },
  { name: "inverted_rate", expected: "learning_backwards" },
  { name: "aliased_reference", expected: "reference_aliased" },
  { name: "shifted_logprobs", expected: "logprob_mismatch" },
  { name: "truncated_sampling", expected: "sampling_mismatch" },
];

const figures = SABOTAGES.map(({ name, expected }) => {
  const set = {
    "kl.mode": "fixed",
    "kl.coefficient": 0.01,
    ...(name !== "none" && { sabotage: name }),
  };
  const run = train(runFolder("sabotage", name), "grpo", { steps: 30, seed: 0, lr: 0.0005, set });
  const alarms = readLines(run, "alarms.jsonl");
  const caught = alarms.find(({ alarm }) => alarm === expected);
  const { stop, reference_frozen } = readJson(run, "summary.json");
  const evaluations = readLines(run, "evaluations.jsonl");
  return {
    name,
    expected,
    alarms: alarms.map(({ alarm, step }) => ({ alarm, step })),
    caught_at: caught?.step ?? null,
    stopped: stop,
    reference_frozen,
    start: evaluations[0].pass_rate,
    end: evaluations.at(-1).pass_rate,
  };
});
publish(
  import.meta.url,
  figures,
  table(
    ["sabotage", "alarm", "at step", "run ended", "dev pass@1"],
    figures.map(({ name, alarms, caught_at, stopped, start, end }) => [
      name,
      alarms.map(({ alarm }) => `\`${alarm}\``).join(", ") || "none",
      caught_at ?? "",
      stopped.reason === "all steps done" ? "after all steps" : `at step ${stopped.step}`,
      `${fixed(3)(start)} → ${fixed(3)(end)}`,
    ]),
  ),
);
const missed = figures.filter(({ expected, caught_at }) => expected !== "" && caught_at === null);
if (missed.length > 0) throw new Error(`not caught: ${missed.map(({ name }) => name).join(", ")}`);
