// What the start policy of email-search is made of.
import { openEnvironment } from "lockedroom/environments";
import { conversationAt } from "./players.mjs";

export async function startSettings({ texts = 12_000, steps = 1500 } = {}) {
  const { definition } = await openEnvironment("email-search");
  const tasks = definition.tasks("train");
  const questions = ["train", "dev", "holdout"].flatMap((split) => definition.tasks(split));
  return {
    ...{ name: "email-search", layers: 3, context: 320 },
    // Words, single digits, and signs that stand together.
    pattern: "[A-Za-z_']+|\\d| ?[^A-Za-z_'\\d ]+| ",
    /** Only for the vocabulary: that every word can be read. */
    readable: questions.map(({ prompt }) => prompt),
    stages: [
      {
        texts: Array.from({ length: texts }, (_, i) => conversationAt(i, definition, tasks)),
        ...{ batch: 32, steps, lr: 0.003 },
      },
    ],
  };
}
