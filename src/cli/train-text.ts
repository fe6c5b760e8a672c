/** What is printed after a training run. */

import type { TrainedPolicy } from "../learn/options.ts";
import { readTrainingRun } from "../runs/read-training-run.ts";
import type { EvaluationRecord } from "../runs/train-records.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import { commandLines, out, wrap } from "./terminal.ts";

export async function printTrained(
  { dir, checkpoint, summary }: TrainedPolicy,
  program: string,
  { dev, maxTokens }: { readonly dev: string | undefined; readonly maxTokens: number },
): Promise<void> {
  const { steps, tokens, first_loss: first, last_loss: last, stop, holdout } = summary;
  out(`Trained for ${steps} ${steps === 1 ? "update" : "updates"} on ${tokens} tokens.`);
  const { evaluations } = await readTrainingRun(dir);
  if (stop.reason !== "all steps done") {
    const which = evaluations.length > 0 ? " (best on validation)" : "";
    const kept = `Kept the policy at step ${stop.kept}${which}.`;
    out(wrap(`Stopped at step ${stop.step} by the alarm ${stop.reason}. ${kept}`, ""));
  }
  out();
  out(`  loss        ${first.toFixed(4)} → ${last.toFixed(4)}`);
  const [start, end] = [evaluations[0], evaluations.at(-1)];
  if (start && end) {
    out(
      `  validation  ${start.pass_rate.toFixed(4)} → ${end.pass_rate.toFixed(4)}  ${intervalOf(end)}`,
    );
    if (end.kl_exact !== null)
      out(`  KL          ${end.kl_exact.toFixed(4)}  nats per token, exact`);
    out(`  entropy     ${start.entropy.toFixed(4)} → ${end.entropy.toFixed(4)}  nats per token`);
  }
  if (holdout.pass_rate !== null) {
    const times = holdout.before + holdout.evaluations;
    out(
      `  holdout     ${holdout.pass_rate.toFixed(4)}  used ${times === 1 ? "once" : `${times} times`} so far`,
    );
  }
  out();
  out(`Policy written to ${checkpoint}`);
  out(
    evaluations.length > 1
      ? commandLines(`Next: ${program} report`, [`--run ${dir}`, `-o ${dir}.html`])
      : commandLines(`Next: ${program} policy show`, [checkpoint]),
  );
  // Same max_tokens as in validation: the gate rejects runs with different sampling settings.
  const sampling = ["--n 1", `--max-tokens ${maxTokens}`];
  const policy = [`--policy ${checkpoint}`, `--dataset ${dev ?? "EXAMPLES"}`, ...sampling];
  out(commandLines(`Then evaluate it: ${program} rollout`, [...policy, `--outdir ${dir}-rollout`]));
}

function intervalOf({ pass_rate, examples }: EvaluationRecord): string {
  const [low, high] = wilsonInterval(Math.round(pass_rate * examples), examples) ?? [0, 1];
  return `of ${examples}, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}`;
}
