/** `lockedroom kl-choice` */

import type { Command } from "commander";
import { CANDIDATES, chooseUnderLeash } from "../../learn/tabular/kl.ts";
import { numberIn } from "../options.ts";
import { out, wrap } from "../terminal.ts";

const strength = numberIn(0, Number.MAX_VALUE, "a number from 0 up");

export function define(command: Command): Command {
  return command
    .description("A tiny table of candidates, and the one with the largest reward − β · KL.")
    .option(
      "--beta <x...>",
      "strengths of the leash (default: 0.1 1.0 0)",
      (text: string, before?: number[]) => [...(before ?? []), strength(text)],
    )
    .addHelpText(
      "after",
      "\nExamples:\n  lockedroom kl-choice\n  lockedroom kl-choice --beta 0.5 2",
    )
    .action(({ beta = [0.1, 1, 0] }: { beta?: number[] }) => {
      out("candidate    reward    KL");
      for (const { name, reward, kl } of CANDIDATES)
        out(`  ${name.padEnd(10)} ${reward.toFixed(2).padStart(6)} ${kl.toFixed(2).padStart(5)}`);
      out();
      for (const strength of beta) {
        const { name, reward, kl } = chooseUnderLeash(CANDIDATES, strength);
        const value = (reward - strength * kl).toFixed(3);
        out(
          `beta ${String(strength).padEnd(5)} chooses ${name.padEnd(10)} ${reward} − ${strength} · ${kl} = ${value}`,
        );
      }
      if (beta.includes(0))
        out(
          `\n${wrap("Without a leash the candidate that drifts furthest wins, because its reward is highest. Whether that reward means anything is not asked.")}`,
        );
    });
}
