import type { Command } from "commander";
import { CANDIDATES, chooseWithKlPenalty } from "../../learn/tabular/kl-penalty.ts";
import { fromZero } from "../options.ts";
import { out, wrap } from "../terminal.ts";

export const help = `Examples:
  lockedroom kl-choice
  lockedroom kl-choice --beta 0.5 2`;

export function define(command: Command): void {
  command
    .description("Shows a table of candidates and the one with the highest reward − β · KL.")
    .option(
      "--beta <x...>",
      "KL coefficients (default: 0.1 1.0 0)",
      (text: string, before?: number[]) => [...(before ?? []), fromZero(text)],
    )
    .action(({ beta = [0.1, 1, 0] }: { beta?: number[] }) => {
      out("candidate    reward    KL");
      for (const { name, reward, kl } of CANDIDATES)
        out(`  ${name.padEnd(10)} ${reward.toFixed(2).padStart(6)} ${kl.toFixed(2).padStart(5)}`);
      out();
      for (const strength of beta) {
        const { name, reward, kl } = chooseWithKlPenalty(CANDIDATES, strength);
        const value = (reward - strength * kl).toFixed(3);
        out(
          `beta ${String(strength).padEnd(5)} chooses ${name.padEnd(10)} ${reward} − ${strength} · ${kl} = ${value}`,
        );
      }
      if (beta.includes(0))
        out(
          `\n${wrap("Without a KL penalty the candidate with the largest KL divergence wins, because its reward is highest, whether or not that reward can be trusted.")}`,
        );
    });
}
