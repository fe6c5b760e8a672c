// What the start policy of tool-calls is made of.
import { openEnvironment } from "lockedroom/environments";
import { conversationAt } from "./players.mjs";

export async function startSettings({ texts = 20_000, steps = 900 } = {}) {
  const { definition } = await openEnvironment("tool-calls");
  const tasks = definition.tasks("train");
  const prompts = ["dev", "holdout"].flatMap((split) => definition.tasks(split));
  return {
    ...{ name: "tool-calls", layers: 3, context: 96 },
    // Words, single digits, and signs that stand together.
    pattern: "[A-Za-z_]+|\\d| ?[^A-Za-z_\\d ]+| ",
    /** Only for the vocabulary: that every word can be read. */
    readable: prompts.map(({ prompt }) => prompt),
    stages: [
      {
        texts: Array.from({ length: texts }, (_, i) => conversationAt(i, definition, tasks)),
        ...{ batch: 64, steps, lr: 0.003 },
      },
    ],
  };
}
