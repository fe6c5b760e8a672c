/**
 * The sliding game 2048 on a board of 4 × 4, won at a tile of 128. Each turn the policy reads the
 * board and answers `<move>left</move>`; the moves before are not needed and not shown.
 */

import type { Action, Split, Turn } from "../../core/environment.ts";
import type { Example } from "../../core/records.ts";
import { rngAt } from "../../core/rng.ts";
import type { EnvironmentDefinition } from "../definition.ts";

const SIZE = 4;
const CELLS = SIZE * SIZE;
export const WINNING_TILE = 128;
/** In a row; the same answer to the same board would go on for ever. */
const MOST_ILLEGAL_MOVES = 3;
const GAMES: Readonly<Record<Split, number>> = { train: 2000, dev: 200, holdout: 500 };

export const MOVES = ["left", "right", "up", "down"] as const;
export type Move = (typeof MOVES)[number];

/** Sixteen tiles, row by row; 0 is an empty cell. */
export type Board = readonly number[];

export interface Game2048 {
  readonly board: Board;
  /** Of the game: the tile after each move is drawn at an address of its own. */
  readonly seed: number;
  readonly moves: number;
  readonly score: number;
  readonly illegal: number;
}

const specOf = (goal: number) =>
  `Slide the tiles of a 4 by 4 board left, right, up or down; equal tiles that meet merge, each at most once a move. After a move that changes the board, an empty cell becomes 2 (nine times of ten) or 4. An unreadable answer ends the game with reward -1; a tile of ${goal} wins with reward 2. A lost game has (log2 of the largest tile - 1) / ${Math.log2(goal) - 1} + 0.2 (log2 of the sum of tiles - 1) / 10. A move that changes nothing adds no tile; ${MOST_ILLEGAL_MOVES} of them in a row end the game.`;

/** The game under another name, won at another power of two. */
export function game2048(name: string, goal: number): EnvironmentDefinition<Game2048> {
  const step = (game: Game2048, action: Action) => play(game, action, goal);
  return {
    name,
    version: "1.0.0",
    spec: specOf(goal),
    codes: ["won", "lost", "illegal_move", "unreadable_move"],
    solved: ["won"],
    rewards: [-1, 2],
    maxTurns: 400,
    memoryless: true,
    random: true,
    tasks: (split) =>
      Array.from({ length: GAMES[split] }, (_, i) => ({
        id: `2048-${split}-${i}`,
        prompt: `2048, game ${i} of ${split}`,
      })),
    reset: newGame,
    step,
    players: { gold: (game) => answer(bestMove(game, step)), idle: () => "" },
    ansi: drawn,
  };
}

export const twenty48 = game2048("twenty48", WINNING_TILE);

function newGame(_task: Example, seed: number): Turn<Game2048> {
  const board = withNewTile(withNewTile(new Array(CELLS).fill(0), seed, "first"), seed, "second");
  return observed({ board, seed, moves: 0, score: 0, illegal: 0 });
}

function play(game: Game2048, { text }: Action, goal: number): Turn<Game2048> {
  const move = readMove(text);
  if (!move) return ended(game, "unreadable_move", -1, { answer: text.slice(0, 80) });
  const { board, gained } = slid(game.board, move);
  if (sameBoard(board, game.board)) {
    const illegal = game.illegal + 1;
    const stuck = { ...game, illegal };
    const metrics = { illegal_moves: 1 };
    if (illegal === MOST_ILLEGAL_MOVES) {
      return { ...ended(stuck, "illegal_move", progress(game.board, goal), { move }), metrics };
    }
    return { ...observed(stuck), metrics };
  }
  const moves = game.moves + 1;
  const next: Game2048 = {
    board: withNewTile(board, game.seed, moves),
    seed: game.seed,
    moves,
    score: game.score + gained,
    illegal: 0,
  };
  if (largest(next.board) >= goal) return ended(next, "won", 2);
  if (!canMove(next.board)) return ended(next, "lost", progress(next.board, goal));
  return observed(next);
}

function observed(state: Game2048): Turn<Game2048> {
  return { state, observation: [{ role: "user", content: boardText(state.board) }], reward: 0 };
}

function ended(
  state: Game2048,
  code: string,
  reward: number,
  details: Record<string, string> = {},
): Turn<Game2048> {
  const metrics = { largest_tile: largest(state.board), score: state.score, moves: state.moves };
  return { state, observation: [], reward, metrics, end: { code, terminated: true, details } };
}

/** Rows joined by `|`, one line each, `_` for an empty cell. */
export function boardText(board: Board): string {
  let text = "";
  for (let cell = 0; cell < CELLS; cell++) {
    text += board[cell] || "_";
    text += cell % SIZE === SIZE - 1 ? "\n" : "|";
  }
  return text;
}

/** One move in tags, and nothing else but white space. */
function readMove(text: string): Move | undefined {
  const found = /^\s*<move>(left|right|up|down)<\/move>\s*$/.exec(text)?.[1];
  return found as Move | undefined;
}

export function answer(move: Move): string {
  return `<move>${move}</move>`;
}

/** The cells of each line in the direction of the move, first the one that tiles slide to. */
const LINES = Object.fromEntries(
  MOVES.map((move) => [
    move,
    Array.from({ length: SIZE }, (_, line) =>
      Array.from({ length: SIZE }, (_, i) => {
        const at = move === "left" || move === "up" ? i : SIZE - 1 - i;
        return move === "left" || move === "right" ? line * SIZE + at : at * SIZE + line;
      }),
    ),
  ]),
) as unknown as Readonly<Record<Move, readonly (readonly number[])[]>>;

/** The board after a move, before a new tile, and the sum of the tiles that merging made. */
export function slid(board: Board, move: Move): { board: Board; gained: number } {
  const next: number[] = new Array(CELLS).fill(0);
  let gained = 0;
  for (const line of LINES[move]) {
    let to = 0;
    let waiting = 0;
    for (const cell of line) {
      const tile = board[cell] as number;
      if (tile === 0) continue;
      if (tile === waiting) {
        next[line[to - 1] as number] = 2 * tile;
        gained += 2 * tile;
        waiting = 0;
      } else {
        next[line[to] as number] = tile;
        to++;
        waiting = tile;
      }
    }
  }
  return { board: next, gained };
}

export function sameBoard(a: Board, b: Board): boolean {
  for (let cell = 0; cell < CELLS; cell++) if (a[cell] !== b[cell]) return false;
  return true;
}

/** Whether a move changes the board: there is an empty cell, or two equal tiles are neighbours. */
function canMove(board: Board): boolean {
  for (let cell = 0; cell < CELLS; cell++) {
    const tile = board[cell];
    if (tile === 0) return true;
    if (cell % SIZE < SIZE - 1 && tile === board[cell + 1]) return true;
    if (tile === board[cell + SIZE]) return true;
  }
  return false;
}

function withNewTile(board: Board, seed: number, draw: string | number): Board {
  const rng = rngAt(seed, "tile", draw);
  const empty: number[] = [];
  for (let cell = 0; cell < CELLS; cell++) if (board[cell] === 0) empty.push(cell);
  const next = [...board];
  const cell = empty[rng.below(empty.length)] as number;
  next[cell] = rng.next() < 0.9 ? 2 : 4;
  return next;
}

const largest = (board: Board) => Math.max(...board);

/** Between 0 and a little over 1: how far a game that was not won had come. */
function progress(board: Board, goal: number): number {
  const sum = board.reduce((total, tile) => total + tile, 0);
  return (
    (Math.log2(largest(board)) - 1) / (Math.log2(goal) - 1) + (0.2 * (Math.log2(sum) - 1)) / 10
  );
}

const LOOKAHEAD = 4;

type Step = (game: Game2048, action: Action) => Turn<Game2048>;

/** Looks ahead with the very tiles that will come, which only this player can. */
function bestMove(game: Game2048, step: Step): Move {
  const [best] = MOVES.map((move) => ({ move, worth: worthOf(game, move, step, LOOKAHEAD) })).sort(
    (a, b) => b.worth - a.worth,
  );
  return (best as { move: Move }).move;
}

function worthOf(game: Game2048, move: Move, step: Step, depth: number): number {
  const { state, end } = step(game, { text: answer(move) });
  if (state.moves === game.moves) return -Infinity;
  if (end) return end.code === "won" ? 1e6 + depth : -1e6;
  const empty = state.board.filter((tile) => tile === 0).length;
  if (depth === 1) return state.score + 16 * empty;
  return Math.max(...MOVES.map((next) => worthOf(state, next, step, depth - 1)));
}

function drawn({ board, score, moves }: Game2048): string {
  const rows = rowsOf(board).map((row) =>
    row.map((tile) => String(tile || "·").padStart(6)).join(""),
  );
  return [...rows, `  score ${score}, ${moves} moves`].join("\n");
}

function rowsOf(board: Board): number[][] {
  return Array.from({ length: SIZE }, (_, row) => board.slice(row * SIZE, (row + 1) * SIZE));
}
