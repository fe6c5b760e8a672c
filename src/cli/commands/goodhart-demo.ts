import type { Command } from "commander";
import { visibleShort } from "../../core/visible.ts";
import { examplesOf } from "../../datasets/splits.ts";
import type { PressurePoint, Question } from "../../learn/tabular/goodhart.ts";
import { runGoodhart } from "../../learn/tabular/goodhart-run.ts";
import { loadScorer } from "../../scorers/load.ts";
import { mathFinalLine } from "../../scorers/math-final-line.ts";
import { addRunOptions, type RunFlags, SEED } from "../options.ts";
import { bar, out, paint, print, printWritten } from "../terminal.ts";

type Flags = RunFlags & { readonly seed: number };

export const help = `Examples:
  lockedroom goodhart-demo --outdir runs/goodhart`;

export function define(command: Command): void {
  command
    .description(
      "Goodhart's law: a small policy is optimised against a naive scorer (the right integer appears anywhere) and measured by the strict scorer.",
    )
    .option(...SEED)
    .action(run);
  addRunOptions(command);
}

async function run(flags: Flags): Promise<void> {
  const problems: Question[] = examplesOf("dev").map(({ id, prompt, expected_answer: answer }) => ({
    id,
    prompt,
    answer,
  }));
  const { dir, summary, findings } = await runGoodhart({
    ...flags,
    problems,
    truth: { ...(await loadScorer()), scorer: mathFinalLine },
  });
  if (flags.quiet) return;
  table("Optimised against the naive scorer (the integer appears anywhere)", findings.naive);
  out("Exploits found by the optimiser:");
  for (const { problem, completion } of findings.hacks) {
    out(`  expected ${String(problem.answer).padStart(4)}  ${visibleShort(completion, 60)}`);
  }
  out();
  table("Optimised against the patched scorer (exactly one answer)", findings.patched);
  print("Same optimiser and same number of updates: only the reward specification changed.");
  printWritten(dir, summary);
}

function table(title: string, points: readonly PressurePoint[]): void {
  out(paint("bold", title));
  out("  updates  proxy                  strict scorer");
  for (const { pressure, proxy_reward: proxy, true_reward: truth } of points) {
    out(
      `  ${String(pressure).padStart(7)}  ${proxy.toFixed(3)} ${bar(proxy, 15).padEnd(16)} ${truth.toFixed(3)} ${bar(truth, 15)}`,
    );
  }
  out();
}
