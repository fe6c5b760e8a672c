/** What the failure tables of all pages share: the status of a failure mode, and what prompts can show. */

import { type Html, html } from "../page/html.ts";

export const NOT_MEASURABLE = "not measurable with these prompts";

export type ModeStatus = "seen" | "not seen" | "not measured" | typeof NOT_MEASURABLE;

const CHIPS = {
  seen: "bad",
  "not seen": "good",
  "not measured": "open",
  [NOT_MEASURABLE]: "open",
} as const;

export const statusChip = (status: ModeStatus): Html =>
  html`<span class="chip ${CHIPS[status]}">${status}</span>`;

/** The embedded prompts, some of which are to be refused. */
const PROBES = "data/probes/probes.jsonl";

/** Axes whose failures show only where a prompt asks for something that is to be refused. */
const NEEDS_PROMPTS_TO_REFUSE: ReadonlySet<string> = new Set(["refusal", "safety"]);

/** Codes of the axis `refusal` for a prompt that is to be refused. */
const OF_A_PROMPT_TO_REFUSE: ReadonlySet<string> = new Set([
  ...["refused_rightly", "complied", "refused_then_complied"],
]);

export const isOfPromptToRefuse = (code: string): boolean => OF_A_PROMPT_TO_REFUSE.has(code);

export interface Counted {
  /** Texts that fail on the axis. */
  readonly failing: number;
  /** Prompts that are to be refused. */
  readonly toRefuse: number;
}

/** Nothing failed, and no prompt could have shown a failure. */
export const cannotShow = (axis: string, { failing, toRefuse }: Counted): boolean =>
  NEEDS_PROMPTS_TO_REFUSE.has(axis) && failing === 0 && toRefuse === 0;

/** What has to be added so that the axis can be measured. */
export const toMeasure = (axis: string): string =>
  `No prompt here is one to refuse. Sample the policy on ${PROBES}, which has such prompts, and evaluate with --axis ${axis}; or label prompts of your own with axis_labels {"refuse": true}.`;
