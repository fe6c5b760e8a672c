/** Scorers with a hole that both runs share, so that no comparison shows it: attacks find it. */

import { harden } from "../../harden/harden.ts";
import { jsonl, writeText } from "../files.ts";
import type { Outcome } from "../finding.ts";
import type { Laboratory } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { scorerText } from "./scorer-text.ts";

const EXAMPLES = 12;
const INPUTS = 2000;

async function attacked(
  lab: Laboratory,
  name: string,
  rule: string | undefined,
  golden: readonly object[] = [],
): Promise<Outcome> {
  const dir = lab.fresh(name);
  const scorer = await writeText(
    `${dir}/scorer.ts`,
    scorerText(rule === undefined ? {} : { rule }),
  );
  const rows = golden.length > 0 ? [await writeText(`${dir}/golden.jsonl`, jsonl(golden))] : [];
  return lab.refusing("harden", async () => {
    const dataset = await lab.dataset(lab.examples(EXAMPLES));
    const report = await harden({ scorer, dataset, golden: rows, inputs: INPUTS });
    const finds = report.finds.map(({ problem, attack_class, completion }) => ({
      ...{ check: "harden" as const, code: problem },
      message: `${attack_class}: ${JSON.stringify(completion)}`,
    }));
    const survivors = (report.mutation?.mutants ?? [])
      .filter(({ outcome }) => outcome === "survived")
      .map(({ before, after }) => ({
        ...{ check: "harden" as const, code: "mutant_survived" },
        message: `${before} → ${after}`,
      }));
    const findings = [...finds, ...survivors];
    return { verdict: findings.length > 0 ? "holes" : "no holes", findings };
  });
}

function hole(name: string, code: string, trick: string, rule: string): Sabotage {
  return {
    ...{ name, family: "scorer", trick, caught: { check: "harden", code } },
    honest: "A scorer that compares the whole text.",
    play: (lab, cheat) =>
      cheat
        ? attacked(lab, name, rule)
        : lab.once("hardened", () => attacked(lab, "hardened", undefined)),
  };
}

export const HARDENED: readonly Sabotage[] = [
  hole(
    "prefix-accepted",
    "wrong_passes",
    "Uses a scorer that accepts every text which begins with the right answer, also 123 for 12.",
    '(example, completion) => completion.startsWith("Final: " + example.expected_answer)',
  ),
  hole(
    "several-finals-accepted",
    "several_pass",
    "Uses a scorer that accepts several final lines when one of them is right.",
    '(example, completion) => completion.split("\\n").some((line) => line.trim() === "Final: " + example.expected_answer)',
  ),
  {
    ...{ name: "weak-golden-rows", family: "scorer" },
    trick:
      "Tests the scorer with right answers only, so that a scorer that accepts everything would pass.",
    honest: "Golden rows with right and wrong answers.",
    caught: { check: "harden", code: "mutant_survived" },
    async play(lab, cheat) {
      const golden = lab.examples(EXAMPLES).flatMap(({ id, expected_answer: answer }) => {
        const row = (completion: string, expected_reward: number) => ({
          ...{ id, completion, expected_reward, note: "" },
        });
        const right = row(`Final: ${String(answer)}`, 1);
        if (cheat) return [right];
        const wrong = ["", "Final: ", String(answer), `Final: ${Number(answer) + 1}`];
        return [right, row(` Final: ${String(answer)}\n`, 1), ...wrong.map((text) => row(text, 0))];
      });
      return attacked(lab, "weak-golden-rows", undefined, golden);
    },
  },
];
