/** The same game with the plain score as reward, move by move. */

import type { EnvironmentDefinition } from "../definition.ts";
import { type Game2048, twenty48, WINNING_TILE } from "./twenty48.ts";

/** The fewest points of a won game: its largest tile was made of tiles of 4 alone. */
const WINNING_SCORE = WINNING_TILE * (Math.log2(WINNING_TILE) - 2);

const RULES = twenty48.spec.slice(0, twenty48.spec.indexOf(" An unreadable answer"));

export const twenty48Score: EnvironmentDefinition<Game2048> = {
  ...twenty48,
  name: "twenty48-score",
  version: "1.0.0",
  spec: `${RULES} Reward of a move: the points that it makes, which are the tiles that merging made, divided by ${WINNING_SCORE}; at most 1 in a game. A tile of ${WINNING_TILE} wins and ends the game; so do an unreadable answer and three moves in a row that change nothing, without further points.`,
  rewards: [0, 1],
  step: (game, action) => {
    const turn = twenty48.step(game, action);
    return { ...turn, reward: share(turn.state.score) - share(game.score) };
  },
};

function share(score: number): number {
  return Math.min(1, score / WINNING_SCORE);
}
