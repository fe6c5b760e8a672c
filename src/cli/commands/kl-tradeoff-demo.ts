import type { Command } from "commander";
import type { KlPoint } from "../../learn/tabular/kl-penalty.ts";
import { type KlTradeoffRunOptions, runKlTradeoff } from "../../learn/tabular/kl-penalty-run.ts";
import { addRunOptions, type RunFlags } from "../options.ts";
import { bar, out, print, printWritten } from "../terminal.ts";

type Flags = KlTradeoffRunOptions & RunFlags;

export const help = `Examples:
  lockedroom kl-tradeoff-demo --plot --outdir runs/kl`;

export function define(command: Command): void {
  command
    .description(
      "Tabular experiment on the KL penalty: the optimal policy for each coefficient β, from the closed form π*(a) ∝ π_ref(a) · exp(r(a)/β), checked by gradient ascent.",
    )
    .option("--plot", "also write kl_tradeoff.svg and kl_tradeoff.png")
    .action(run);
  addRunOptions(command);
}

interface Metrics {
  readonly largest_gap_to_gradient_ascent: number;
  readonly points: readonly KlPoint[];
}

async function run(flags: Flags): Promise<void> {
  const { dir, summary } = await runKlTradeoff(flags);
  if (flags.quiet) return;
  const { points, largest_gap_to_gradient_ascent: gap } = summary.metrics as unknown as Metrics;
  const widest = Math.max(...points.map(({ kl }) => kl));
  out("   beta  reward      KL  entropy  objective  KL");
  for (const { beta, expected_reward: reward, kl, entropy, objective } of points) {
    const figures = [reward, kl].map((x) => x.toFixed(4).padStart(7)).join(" ");
    out(
      `${String(beta).padStart(7)} ${figures}  ${entropy.toFixed(4).padStart(7)}  ${objective.toFixed(4).padStart(9)}  ${bar(kl / widest, 30)}`,
    );
  }
  out();
  print(
    `A smaller KL penalty gives more reward and more KL divergence. Gradient ascent ends within ${gap.toExponential(1)} of the closed form.`,
  );
  printWritten(dir, summary);
}
