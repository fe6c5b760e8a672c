// What is compared: each is a name, a goal, and a measurement of either side.
import { architecture } from "../engine-training.mjs";
import { DATASET, loopData, PI0 } from "./loop-data.mjs";
import { result, trainCommand } from "./processes.mjs";

const RATE = 0.0003;

/** Seconds per update of whole trainings: our command, TRL's `trainer.train()` alone. */
export async function loops({ folder, python, small }) {
  const data = await loopData(folder);
  const grpo = (name, own, goal, threads) =>
    loop({ folder, python }, { ...own, method: "grpo", name: `GRPO ${name}`, goal, threads });
  const steps = (count) => (small ? 2 : count);
  const usual = { start: PI0, dataset: DATASET, steps: steps(40), prompts: 32, group: 8 };
  const many = small ? {} : { prompts: 64, group: 16 };
  const few = small ? { prompts: 2, group: 2 } : {};
  const files = { start: PI0, steps: steps(200), batch: small ? 4 : 64 };
  const both = (make) => [1, 2].map(make);
  return [
    ...both((threads) => grpo("32 × 8", { ...usual, ...few }, 3, threads)),
    ...both((threads) =>
      grpo("64 × 16", { ...usual, ...few, ...many, steps: steps(12) }, 4, threads),
    ),
    ...both((threads) =>
      grpo(
        "32 × 8, long prompts",
        { ...usual, ...few, start: data.longStart, dataset: data.long, steps: steps(12) },
        4,
        threads,
      ),
    ),
    ...[
      { method: "dpo", name: "DPO 64 pairs", dataset: data.pairs },
      { method: "sft", name: "SFT 64 texts", dataset: data.texts },
    ].map((own) => loop({ folder, python }, { ...files, ...own, goal: 2, threads: 2 })),
  ];
}

function loop({ folder, python }, { name, goal, threads, ...own }) {
  const asked = { ...own, threads, max_tokens: 32, learning_rate: RATE };
  return {
    ...{ kind: "loop", name: withThreads(name, threads), goal, steps: own.steps },
    sides: {
      ours: () => perStep(trainCommand(folder, flagsOf(asked)), own.steps),
      theirs: () => perStep(result(python, "loop_theirs.py", asked), own.steps),
    },
  };
}

function perStep({ seconds, loopSeconds, megabytes, completion_tokens: tokens }, steps) {
  const loop = loopSeconds === undefined ? {} : { loop: loopSeconds / steps };
  return { times: [seconds / steps], megabytes, tokens, ...loop };
}

function flagsOf({ method, start, dataset, steps, threads, prompts, group, batch }) {
  const sizes =
    method === "grpo"
      ? ["--set", `rollouts.prompts=${prompts}`, "--set", `rollouts.group=${group}`]
      : ["--batch", batch];
  const schedule = ["--lr", RATE, "--warmup", 0, "--schedule", "constant"];
  // Both sides train all steps, whatever the rewards are.
  const always = ["--set", "alarms_stop=false", "--quiet"];
  return [
    ...[method, "--init", start, "--dataset", dataset, "--steps", steps, "--threads", threads],
    ...[...sizes, ...schedule, ...always],
  ].map(String);
}

/** Milliseconds of a training step, against PyTorch as it is and compiled, and of sampling. */
export function engines({ python, small }) {
  const shapes = small
    ? { nano: [2, 8], micro: [1, 8], small: [1, 8] }
    : { nano: [64, 48], micro: [32, 64], small: [16, 64] };
  const sampled = small ? { batch: 2, prompt: 4, fresh: 3 } : { batch: 64, prompt: 32, fresh: 32 };
  const goals = {
    nano: { eager: 1.2, compile: 1, generate: 3 },
    micro: { eager: 1.2, compile: 1, generate: 2 },
    small: { eager: 1, compile: 0.9, generate: 1.5 },
  };
  const calls = small ? 1 : 12;
  const sizes = Object.keys(shapes);
  return [
    ...sizes.map((size) => {
      const [batch, length] = shapes[size];
      const { eager, compile } = goals[size];
      const asked = { size, threads: 2, batch, length, calls };
      return engine(python, { name: `training ${size}`, tokens: batch * length, asked }, "step", {
        eager: { named: "PyTorch", goal: eager },
        compile: { named: "torch.compile", goal: compile },
      });
    }),
    ...sizes.map((size) => {
      const asked = { size, threads: 2, ...sampled, calls: small ? 1 : 30 };
      const tokens = sampled.batch * sampled.fresh;
      return engine(python, { name: `sampling ${size}`, tokens, asked }, "sample", {
        generate: { named: "generate", goal: goals[size].generate },
      });
    }),
  ];
}

function engine(python, { name, tokens, asked }, ours, theirs) {
  const theirCall = (what) => () => {
    const all = { ...asked, what, architecture: architecture(asked.size) };
    return { times: result(python, "engine_theirs.py", all).ms };
  };
  return {
    ...{ kind: "engine", name: withThreads(name, asked.threads), tokens },
    peers: theirs,
    sides: {
      ours: () => ({
        times: result(process.execPath, "engine-ours.mjs", { ...asked, what: ours }).ms,
      }),
      ...Object.fromEntries(Object.keys(theirs).map((what) => [what, theirCall(what)])),
    },
  };
}

function withThreads(name, count) {
  return `${name}, ${count === 1 ? "1 thread" : `${count} threads`}`;
}
