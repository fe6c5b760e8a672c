/** Level 6: the promotion committee. */

import { type Json, KNOBS } from "../../core/index.ts";
import { GATE_EXIT } from "../../gate/index.ts";
import { demand } from "../gap.ts";
import type { Form, QuizQuestion } from "../quiz.ts";
import type { Room } from "../room.ts";
import { count, differingField, judged, REASON, reasonCode, VERDICT } from "./look-up.ts";

const TAMPERED = ["l0_build_eval", "l0_sabotage_eval_tampered"] as const;
const SELECTED = ["l6_trap_sel_n1", "l6_trap_sel_n4"] as const;
const LEARNED = ["l6_trap_untrained", "l6_trap_learning"] as const;

const KNOB: Form = {
  kind: "word",
  what: "measurement, selection, policy or environment",
  words: Object.keys(KNOBS),
};

async function theKnob(room: Room, [before, after]: readonly [string, string]): Promise<string> {
  const { knobs } = await judged(room, before, after);
  demand(knobs.length === 1, {
    expected: `one knob turned between runs/${before} and runs/${after}`,
    found: knobs.join(" and ") || "none",
    look: `./lockedroom gate --baseline runs/${before} --candidate runs/${after}`,
  });
  return knobs[0] as string;
}

export const QUESTIONS_6: readonly QuizQuestion[] = [
  {
    id: "trap-1",
    ask: `Trap 1: runs/${TAMPERED[0]} against runs/${TAMPERED[1]}. The verdict?`,
    form: VERDICT,
    why: "The data set is another one, so there is no comparison that could be won.",
    chapter: "11-measurement-hygiene",
    runs: TAMPERED,
    solve: async (room) => (await judged(room, ...TAMPERED)).decision,
  },
  {
    id: "trap-2-knob",
    ask: `Trap 2: which knob differs between runs/${SELECTED[0]} and runs/${SELECTED[1]}?`,
    form: KNOB,
    why: "Same packs, same scorer, another number of samples to choose from.",
    chapter: "07-selection-filtering-learning",
    runs: SELECTED,
    solve: (room) => theKnob(room, SELECTED),
  },
  {
    id: "trap-2-unclaimed",
    ask: "The verdict on that pair when nobody claims anything?",
    form: VERDICT,
    why: "One knob, and a difference that is not luck. Outputs did improve; the gate only minds what it is called.",
    chapter: "07-selection-filtering-learning",
    runs: SELECTED,
    solve: async (room) => (await judged(room, ...SELECTED)).decision,
  },
  {
    id: "trap-2-claimed",
    ask: "With --claim policy the same pair is rejected. For which reason?",
    form: REASON,
    why: "The claim is a better policy, and what was turned is selection. No size of difference makes the one the other.",
    chapter: "07-selection-filtering-learning",
    runs: SELECTED,
    solve: async (room) => {
      const unclaimed = (await judged(room, ...SELECTED)).reasons.map(({ code }) => code);
      return reasonCode(
        await judged(room, ...SELECTED, "policy"),
        "a claim that does not hold",
        ({ code }) => !unclaimed.includes(code),
      );
    },
  },
  {
    id: "trap-2-artifact",
    ask: "Which field of manifest.json tells the two runs of trap 2 apart?",
    form: {
      kind: "choice",
      options: { a: "learning", b: "policy", c: "scorer", d: "selection" },
    },
    why: "Selection that improves leaves its mark in selection and nothing in policy or learning. Learning does the opposite.",
    chapter: "01-three-loops",
    runs: SELECTED,
    solve: (room) =>
      differingField(room, SELECTED, {
        a: (m) => m.learning as Json,
        b: (m) => m.policy as Json,
        c: (m) => m.scorer as Json,
        d: (m) => m.selection as Json,
      }),
  },
  {
    id: "trap-3",
    ask: `Trap 3: runs/${LEARNED[0]} against runs/${LEARNED[1]}, with --claim policy. The verdict?`,
    form: VERDICT,
    why: "The policy is the one knob that was turned, the claim says so, and the difference is not luck.",
    chapter: "01-three-loops",
    runs: LEARNED,
    solve: async (room) => (await judged(room, ...LEARNED, "policy")).decision,
  },
  {
    id: "luck",
    ask: "Two comparable runs, one knob, and a difference that could well be luck. With which exit code does the gate end?",
    form: count,
    why: "That is INCONCLUSIVE, which is neither a rejection nor a promotion: use more examples.",
    chapter: "11-measurement-hygiene",
    runs: [],
    solve: () => GATE_EXIT.INCONCLUSIVE,
  },
];
