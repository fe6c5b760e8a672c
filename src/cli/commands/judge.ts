/** `lockedroom judge`: a language model that compares the attempts at a task, and what it costs. */

import { judgeCost } from "../judge-cost.ts";
import { scoreByJudge } from "../judge-score.ts";
import { serveJudge } from "../judge-serve.ts";
import { commandOf } from "../subcommand.ts";

export const { help, define } = commandOf({
  command: "judge",
  description:
    "Judges: a language model that compares the attempts at one task and gives each a score.",
  subcommands: { score: scoreByJudge, serve: serveJudge, cost: judgeCost },
  examples: ["lockedroom judge score --help", "lockedroom judge serve", "lockedroom judge cost"],
});
