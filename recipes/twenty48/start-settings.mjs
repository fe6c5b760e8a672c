// What the start policy of 2048 is made of.
import { game2048 } from "lockedroom/environments";
import { textsOf } from "./players.mjs";

/** The games of the texts go on to 256, so that the policy has seen boards with a tile of 128. */
const GAME = game2048("twenty48-to-256", 256);

/** Positions of greedy play first, then of play that is random in every second move. */
export function startSettings({ texts = [100_000, 60_000], steps = [1500, 200] } = {}) {
  return {
    ...{ name: "twenty48", layers: 2, context: 32 },
    // A cell with the sign after it is one token, and so is a whole answer.
    pattern: "<move>[a-z]+</move>|(?:\\d+|_)[|\\n]|[^|_\\n]",
    /** Only for the vocabulary: the prompts of the tasks, and tiles up to 128 in every column. */
    readable: [
      "2048, game 0123456789 of train dev holdout",
      ...[2, 4, 8, 16, 32, 64, 128, "_"].map((tile) => `${tile}|${tile}\n`),
    ],
    stages: [
      { texts: textsOf(GAME, 100, texts[0]), batch: 512, steps: steps[0], lr: 0.003 },
      { texts: textsOf(GAME, 50, texts[1]), batch: 256, steps: steps[1], lr: 0.0005 },
    ],
  };
}
