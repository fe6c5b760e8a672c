/** The labelled replies of the embedded environment support-replies. */

import type { Split } from "../core/environment.ts";
import { gradedReplies } from "../environments/support-replies/graded-replies.ts";
import { preferences } from "../environments/support-replies/replies.ts";
import { type LabelledData, replyTo } from "./labelled.ts";

export function embeddedReplies(split: Split): LabelledData {
  return {
    source: `support-replies, ${split}`,
    inputs: [],
    pairs: preferences(split).map(({ id, prompt, a, b, better }) => ({
      id,
      better: replyTo(prompt, better === "a" ? a : b),
      worse: replyTo(prompt, better === "a" ? b : a),
      tools: [],
    })),
    groups: gradedReplies(split).map(({ id, prompt, replies }) => ({
      id,
      attempts: replies.map(({ text }) => replyTo(prompt, text)),
      worth: replies.map(({ worth }) => worth),
      tools: [],
    })),
  };
}
