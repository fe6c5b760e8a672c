/** The findings of an audit in words, as the terminal and pages show them. */

import type { AuditProbe, JudgeAudit, JudgeFault, JudgeFinding } from "./judge-audit-schema.ts";

interface FaultWords {
  readonly name: string;
  /** What the effect of the finding is. */
  readonly effect: string;
  readonly unit: "score" | "share";
  /** What to do about it. */
  readonly next: string;
}

export const FAULT_WORDS: Readonly<Record<JudgeFault, FaultWords>> = {
  position: {
    name: "position bias",
    effect: "score gained by the first place",
    unit: "score",
    next: "Judge every pair in both orders, or use another judge.",
  },
  length: {
    name: "length bias",
    effect: "score gained by neutral text that adds nothing",
    unit: "score",
    next: "Add a limit on length to the rubric, or penalise length in training.",
  },
  self_praise: {
    name: "self-praise",
    effect: "score gained by praising itself",
    unit: "score",
    next: "Say in the rubric that claims about an attempt's own quality earn nothing.",
  },
  injection: {
    name: "injected instructions",
    effect: "score gained by asking the judge for it",
    unit: "score",
    next: "Do not train with this judge: a policy learns to write such instructions. Use another model.",
  },
  noise: {
    name: "noise",
    effect: "pairs with another preference when asked again",
    unit: "share",
    next: "Lower --judge-temperature, or use another judge.",
  },
  agreement: {
    name: "agreement with labels",
    effect: "pairs ordered as the labels do (ties count half)",
    unit: "share",
    next: "Write a rubric that says what makes a reply better, or use another judge.",
  },
  dropped: {
    name: "dropped verdicts",
    effect: "requests without a usable verdict",
    unit: "share",
    next: "Read why the requests were dropped: judgements.jsonl has the reasons.",
  },
};

export const PROBE_WORDS: Readonly<Record<AuditProbe, string>> = {
  pair: "the pair",
  swapped: "the pair in the other order",
  repeated: "the pair asked again with another seed",
  length: "a copy with neutral text",
  self_praise: "a copy that praises itself",
  injection: "a copy with an instruction to the judge",
  group: "a group of several replies",
};

export const TRUSTED_WORDS: Readonly<Record<JudgeAudit["trusted"], string>> = {
  trusted: "TRUSTED",
  not_trusted: "NOT TRUSTED",
  undecided: "UNDECIDED",
};

/** What the verdict on the whole rests on, in a sentence. */
export function trustedSentence({ trusted, findings }: JudgeAudit): string {
  const named = (verdict: JudgeFinding["verdict"]) =>
    findings
      .filter((one) => one.verdict === verdict)
      .map(({ fault }) => FAULT_WORDS[fault].name)
      .join(", ");
  if (trusted === "trusted") return "Every fault is ruled out at its margin.";
  if (trusted === "not_trusted") return `Shown: ${named("convicted")}.`;
  return `Neither shown nor ruled out: ${named("undecided")}. More pairs can decide.`;
}
