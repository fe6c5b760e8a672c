/** The three loops and the four knobs. Exactly one knob may differ between two compared runs. */

export type Loop = "A" | "B" | "C";
export type Knob = "measurement" | "selection" | "policy" | "environment";
/** A knob that differs, or `unknown`: the answers differ, and the runs do not state whose they are. */
export type Change = Knob | "unknown";

export const LOOPS: Record<Loop, string> = {
  A: "evaluation: scores completions; nothing changes",
  B: "selection: picks among samples; the policy's distribution is unchanged",
  C: "learning: updates the policy; its distribution changes",
};

export const KNOBS: Record<Knob, string> = {
  measurement: "measurement instrument",
  selection: "selection compute",
  policy: "policy",
  environment: "environment",
};
