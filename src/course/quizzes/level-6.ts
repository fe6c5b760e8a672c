/** Level 6: the promotion committee. */

import { type Json, KNOBS } from "../../core/index.ts";
import { GATE_EXIT } from "../../gate/index.ts";
import { type CheckContext, ensure } from "../check-context.ts";
import {
  choice,
  compared,
  count,
  differingField,
  oneOf,
  questions,
  REASON,
  reasonCode,
} from "./answers.ts";

const TAMPERED = ["l0_build_eval", "l0_sabotage_eval_tampered"] as const;
const SELECTED = ["l6_trap_sel_n1", "l6_trap_sel_n4"] as const;
const LEARNED = ["l6_trap_untrained", "l6_trap_learning"] as const;

const VERDICT = oneOf(["PROMOTE", "REJECT", "INCONCLUSIVE"]);

async function theKnob(context: CheckContext, runs: readonly [string, string]): Promise<string> {
  const { knobs } = await compared(context, runs);
  const [before, after] = runs;
  ensure(knobs.length === 1, {
    expected: `one knob turned between runs/${before} and runs/${after}`,
    found: knobs.join(" and ") || "none",
    where: `./lockedroom gate --baseline runs/${before} --candidate runs/${after}`,
  });
  return knobs[0] as string;
}

export const QUESTIONS_6 = questions("07-selection-filtering-learning", [
  {
    id: "trap-1",
    ask: `Trap 1: runs/${TAMPERED[0]} against runs/${TAMPERED[1]}. What is the verdict?`,
    form: VERDICT,
    why: "The data sets differ, so the runs are not comparable.",
    chapter: "11-measurement-hygiene",
    runs: TAMPERED,
    solve: async (context) => (await compared(context, TAMPERED)).decision,
  },
  {
    id: "trap-2-knob",
    ask: `Trap 2: which knob differs between runs/${SELECTED[0]} and runs/${SELECTED[1]}?`,
    form: oneOf(Object.keys(KNOBS)),
    why: "Same packs, same scorer, another number of samples to select from.",
    runs: SELECTED,
    solve: (context) => theKnob(context, SELECTED),
  },
  {
    id: "trap-2-unclaimed",
    ask: "What is the verdict on that pair without --claim?",
    form: VERDICT,
    why: "One knob differs, and the difference is significant. The outputs did improve, by selection.",
    runs: SELECTED,
    solve: async (context) => (await compared(context, SELECTED)).decision,
  },
  {
    id: "trap-2-claimed",
    ask: "With --claim policy the same pair is rejected. For which reason?",
    form: REASON,
    why: "The claim is a better policy, but the knob that differs is selection, whatever the size of the difference.",
    runs: SELECTED,
    solve: async (context) => {
      const unclaimed = (await compared(context, SELECTED)).reasons.map(({ code }) => code);
      return reasonCode(
        await compared(context, SELECTED, "policy"),
        "a claim that does not hold",
        ({ code }) => !unclaimed.includes(code),
      );
    },
  },
  {
    id: "trap-2-artifact",
    ask: "In which field of manifest.json do the two runs of trap 2 differ?",
    form: choice({ a: "learning", b: "policy", c: "scorer", d: "selection" }),
    why: "Selection changes the field selection and neither policy nor learning. Learning does the opposite.",
    chapter: "01-three-loops",
    runs: SELECTED,
    solve: (context) =>
      differingField(context, SELECTED, {
        a: (m) => m.learning as Json,
        b: (m) => m.policy as Json,
        c: (m) => m.scorer as Json,
        d: (m) => m.selection as Json,
      }),
  },
  {
    id: "trap-3",
    ask: `Trap 3: runs/${LEARNED[0]} against runs/${LEARNED[1]}, with --claim policy. What is the verdict?`,
    form: VERDICT,
    why: "The policy is the one knob that differs, the claim names it, and the difference is significant.",
    chapter: "01-three-loops",
    runs: LEARNED,
    solve: async (context) => (await compared(context, LEARNED, "policy")).decision,
  },
  {
    id: "not-significant",
    ask: "Two comparable runs, one knob, and a difference that is not significant. What is the gate's exit code?",
    form: count,
    why: "That is INCONCLUSIVE, neither a rejection nor a promotion: use more examples.",
    chapter: "11-measurement-hygiene",
    solve: () => GATE_EXIT.INCONCLUSIVE,
  },
]);
