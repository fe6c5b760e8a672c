/**
 * The sliding game: the judge sees the boards that the policy saw, and slides the last one itself. It
 * does not know the tile that came after the last move, nor whether another move was possible.
 */

import { MOVES, type Move, slid, WINNING_TILE } from "../../../environments/twenty48/twenty48.ts";
import { type Attempt, promptOf, saidIn } from "../attempt.ts";
import type { Criterion, JudgedTask } from "../criterion.ts";

const ROWS = 4;
const BOARD = /^(?:(?:_|\d+)\|){3}(?:_|\d+)$/;

const tile: Criterion = {
  line: "It makes a large tile.",
  short: "largest tile",
  weight: 2,
  measure: (attempt) =>
    Math.min(1, Math.max(0, (Math.log2(largestTile(attempt)) - 1) / (Math.log2(WINNING_TILE) - 1))),
};

const legible: Criterion = {
  line: "Its moves can be read.",
  short: "readable moves",
  measure(attempt) {
    const moves = saidIn(attempt.messages);
    return moves.filter((said) => moveOf(said)).length / Math.max(1, moves.length);
  },
};

export const twenty48: JudgedTask = {
  name: "twenty48",
  recognises: (attempt) => boardOf(promptOf(attempt)) !== undefined,
  catalogue: [tile, legible],
  goal: [tile, legible],
};

function largestTile({ messages }: Attempt): number {
  const last = messages.findLast(({ role }) => role === "user");
  const board = boardOf(last?.content.trim() ?? "") ?? [2];
  const move = moveOf(saidIn(messages).at(-1) ?? "");
  const after = move && board.length === ROWS * ROWS ? slid(board, move).board : board;
  return Math.max(2, ...after);
}

function boardOf(text: string): number[] | undefined {
  const rows = text.split("\n");
  if (rows.length !== ROWS || !rows.every((row) => BOARD.test(row))) return undefined;
  return rows.flatMap((row) => row.split("|").map((cell) => (cell === "_" ? 0 : Number(cell))));
}

function moveOf(text: string): Move | undefined {
  const [, word] = /^<move>(\w+)<\/move>$/.exec(text) ?? [];
  return MOVES.find((move) => move === word);
}
