// `npm run bench:environments`: games of 2048 by a random player through the environment, as a ratio
// to a plain loop with the same rules in the same process. Both play the very same games.
import { pathToFileURL } from "node:url";
import { rngAt } from "../dist/core/index.js";
import { episodeSeed, playScripted } from "../dist/environments/episode.js";
import { answer, MOVES, twenty48 } from "../dist/environments/twenty48/twenty48.js";
import { table, updatePage } from "./page.mjs";

export const LIMIT = 10;

/** Seconds of so many games each way, and what the games came to. */
export function measure(games) {
  const plain = timed(() => total(games, plainGame));
  const ours = timed(() => total(games, environmentGame));
  if (ours.moves !== plain.moves || ours.won !== plain.won || ours.won === 0) {
    throw new Error(`the games differ: ${JSON.stringify({ plain, ours })}`);
  }
  return { plain, ours, ratio: ours.seconds / plain.seconds };
}

function timed(work) {
  const began = performance.now();
  const result = work();
  return { seconds: (performance.now() - began) / 1000, ...result };
}

function total(games, play) {
  let [moves, won] = [0, 0];
  for (let game = 0; game < games; game++) {
    const end = play(game);
    moves += end.moves;
    won += end.won ? 1 : 0;
  }
  return { moves, won };
}

function environmentGame(game) {
  const random = generator(game);
  const { turns, end } = playScripted(twenty48, TASK, game, () =>
    answer(MOVES[Math.floor(random() * 4)]),
  );
  return { moves: turns.at(-1).state.moves, won: end.code === "won" };
}

const [TASK] = twenty48.tasks("dev");

/** The rules written out for speed: one flat board that is changed in place. */
function plainGame(game) {
  const random = generator(game);
  const seed = episodeSeed(game, TASK);
  const board = new Uint16Array(16);
  spawn(board, rngAt(seed, "tile", "first"));
  spawn(board, rngAt(seed, "tile", "second"));
  let [moves, idle] = [0, 0];
  for (let turn = 0; turn < 400; turn++) {
    if (!shift(board, Math.floor(random() * 4))) {
      if (++idle === 3) return { moves, won: false };
      continue;
    }
    idle = 0;
    moves++;
    spawn(board, rngAt(seed, "tile", moves));
    if (board.includes(128)) return { moves, won: true };
    if (stuck(board)) return { moves, won: false };
  }
  return { moves, won: false };
}

/** The first cell, the step to the next line and the step within a line, for each direction. */
const WAYS = [
  [0, 4, 1],
  [3, 4, -1],
  [0, 1, 4],
  [12, 1, -4],
];

/** Whether the board changed. */
function shift(board, way) {
  const [origin, next, step] = WAYS[way];
  let changed = false;
  for (let line = 0; line < 4; line++) {
    const start = origin + line * next;
    let [to, last] = [start, -1];
    for (let i = 0, from = start; i < 4; i++, from += step) {
      const tile = board[from];
      if (tile === 0) continue;
      if (last >= 0 && board[last] === tile) {
        board[last] = 2 * tile;
        board[from] = 0;
        last = -1;
        changed = true;
        continue;
      }
      if (from !== to) {
        board[to] = tile;
        board[from] = 0;
        changed = true;
      }
      last = to;
      to += step;
    }
  }
  return changed;
}

function stuck(board) {
  if (board.includes(0)) return false;
  for (let cell = 0; cell < 16; cell++) {
    if (cell % 4 < 3 && board[cell] === board[cell + 1]) return false;
    if (cell < 12 && board[cell] === board[cell + 4]) return false;
  }
  return true;
}

function spawn(board, rng) {
  let empty = 0;
  for (let cell = 0; cell < 16; cell++) if (board[cell] === 0) empty++;
  let place = rng.below(empty);
  for (let cell = 0; cell < 16; cell++) {
    if (board[cell] === 0 && place-- === 0) board[cell] = rng.next() < 0.9 ? 2 : 4;
  }
}

/** Of the moves: a linear congruential generator, so that the player costs next to nothing. */
function generator(seed) {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const games = process.env.LOCKEDROOM_BENCH_SMALL ? 1000 : 10_000;
  measure(200); // Warms both up.
  const { plain, ours, ratio } = measure(games);
  const holds = ratio < LIMIT;
  console.log(
    `${holds ? "ok  " : "OVER"} ${games} games: ${round(ours.seconds)} s, plain loop ${round(plain.seconds)} s, ratio ${round(ratio)}, limit ${LIMIT}`,
  );
  if (!process.env.LOCKEDROOM_BENCH_SMALL) {
    const rows = [
      ["2048, 10,000 random games / plain loop, time", round(ratio), `< ${LIMIT}`],
      ["2048, moves a second", Math.round(ours.moves / ours.seconds), ""],
    ];
    const lines = [
      ...table(["check", "measured", "limit"], rows),
      "",
      `Measured with Node ${process.version}.`,
      "",
    ];
    updatePage("bench:environments", lines.join("\n"));
  }
  process.exitCode = holds ? 0 : 1;
}

function round(value) {
  return Number(value.toPrecision(3));
}
