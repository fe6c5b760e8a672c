import { expect, test } from "vitest";
import { playScripted } from "../episode.ts";
import {
  answer,
  type Board,
  boardText,
  type Game2048,
  game2048,
  MOVES,
  slid,
  twenty48,
} from "./twenty48.ts";

const board = (text: string): Board =>
  text.split(/\s+/).map((cell) => Number(cell.replace("_", "0")));

const game = (text: string, more: Partial<Game2048> = {}): Game2048 => ({
  ...{ board: board(text), seed: 1, moves: 0, score: 0, illegal: 0 },
  ...more,
});

const EMPTY_ROW = "_ _ _ _";

test.each([
  ["2 2 _ _", "4 _ _ _", 4],
  ["2 2 2 _", "4 2 _ _", 4],
  ["2 2 2 2", "4 4 _ _", 8],
  ["4 2 2 _", "4 4 _ _", 4],
  ["_ 2 _ 2", "4 _ _ _", 4],
  ["2 4 2 4", "2 4 2 4", 0],
])("a row %s slides left to %s", (before, after, gained) => {
  const rest = ` ${EMPTY_ROW} ${EMPTY_ROW} ${EMPTY_ROW}`;
  expect(slid(board(before + rest), "left")).toEqual({ board: board(after + rest), gained });
});

test("the four moves are one move seen from four sides", () => {
  const start = board("2 4 _ 2 _ 4 2 2 8 _ _ 8 2 2 2 2");
  const turned = (from: Board) =>
    from.map((_, i) => from[(3 - (i % 4)) * 4 + Math.floor(i / 4)] as number);
  const order = ["left", "up", "right", "down"] as const;
  let seen = start;
  for (const move of order) {
    let back = slid(seen, move).board;
    for (let i = order.indexOf(move); i % 4 !== 0; i++) back = turned(back);
    expect(back).toEqual(slid(start, "left").board);
    seen = turned(seen);
  }
});

test("a move that changes nothing adds no tile, and the third in a row ends the game", () => {
  let turn = twenty48.step(game(`2 4 _ _ ${EMPTY_ROW} ${EMPTY_ROW} ${EMPTY_ROW}`), {
    text: answer("left"),
  });
  expect(turn.state.board).toEqual(board(`2 4 _ _ ${EMPTY_ROW} ${EMPTY_ROW} ${EMPTY_ROW}`));
  expect(turn.end).toBeUndefined();
  turn = twenty48.step(turn.state, { text: answer("left") });
  turn = twenty48.step(turn.state, { text: answer("left") });
  expect(turn.end?.code).toBe("illegal_move");
});

test("a full board with a merge goes on, one without is lost", () => {
  const stuck = "2 4 8 16 4 8 16 2 8 16 2 4 16 2 4";
  const goesOn = twenty48.step(game(`${stuck} 4`.replace("2 4 8 16", "2 2 8 16")), {
    text: answer("left"),
  });
  expect(goesOn.end).toBeUndefined();
  const lost = twenty48.step(game(`_ ${stuck}`), { text: answer("left") });
  expect(lost.state.board.every((tile) => tile > 0)).toBe(true);
  const canMove = MOVES.some(
    (move) => slid(lost.state.board, move).board.join() !== lost.state.board.join(),
  );
  expect(lost.end?.code).toBe(canMove ? undefined : "lost");
});

test("128 wins 2; an unreadable answer costs 1; a lost game has the reward of the formula", () => {
  const won = twenty48.step(game(`64 64 _ _ ${EMPTY_ROW} ${EMPTY_ROW} ${EMPTY_ROW}`), {
    text: answer("left"),
  });
  expect([won.end?.code, won.reward, won.metrics?.largest_tile]).toEqual(["won", 2, 128]);
  for (const text of [
    "left",
    "<move>Left</move>",
    "<move>left</move><move>up</move>",
    "",
    "x<move>up</move>",
  ]) {
    const { end, reward } = twenty48.step(won.state, { text });
    expect([end?.code, reward]).toEqual(["unreadable_move", -1]);
  }
  const tiles = `64 4 _ _ ${EMPTY_ROW} ${EMPTY_ROW} ${EMPTY_ROW}`;
  const { reward } = twenty48.step(game(tiles, { illegal: 2 }), { text: answer("left") });
  expect(reward).toBeCloseTo((6 - 1) / 6 + (0.2 * (Math.log2(68) - 1)) / 10, 12);
});

test("a game to 256 goes on at 128, wins at 256, and counts how far it is to there", () => {
  const longer = game2048("longer", 256);
  const rest = `${EMPTY_ROW} ${EMPTY_ROW} ${EMPTY_ROW}`;
  const left = { text: answer("left") };
  const at128 = longer.step(game(`64 64 _ _ ${rest}`), left);
  expect([at128.end, at128.reward]).toEqual([undefined, 0]);
  expect(twenty48.step(game(`64 64 _ _ ${rest}`), left).end?.code).toBe("won");
  expect(longer.step(game(`128 128 _ _ ${rest}`), left)).toMatchObject({
    ...{ reward: 2, end: { code: "won" } },
  });
  const stuck = longer.step(game(`64 2 _ _ ${rest}`, { illegal: 2 }), left);
  expect(stuck.reward).toBeCloseTo(5 / 7 + (0.2 * (Math.log2(66) - 1)) / 10, 12);
  expect(longer.spec).toContain("256");
});

test("new tiles are 2 nine times of ten and fall on every empty cell", () => {
  const start = `4 _ _ _ ${EMPTY_ROW} ${EMPTY_ROW} ${EMPTY_ROW}`;
  const cells = new Map<number, number>();
  let twos = 0;
  const games = 4000;
  for (let seed = 0; seed < games; seed++) {
    const { state } = twenty48.step(game(start, { seed }), { text: answer("right") });
    const cell = state.board.findIndex((tile, i) => tile > 0 && i !== 3);
    cells.set(cell, (cells.get(cell) ?? 0) + 1);
    if (state.board[cell] === 2) twos++;
  }
  expect(Math.abs(twos / games - 0.9)).toBeLessThan(0.02);
  expect(cells.size).toBe(15);
  for (const count of cells.values()) expect(Math.abs(count / games - 1 / 15)).toBeLessThan(0.02);
});

test("the policy reads the board as text", () => {
  expect(boardText(board(`2 _ 128 _ ${EMPTY_ROW} ${EMPTY_ROW} ${EMPTY_ROW}`))).toBe(
    "2|_|128|_\n_|_|_|_\n_|_|_|_\n_|_|_|_\n",
  );
});

test("the gold player wins, and its episodes differ by seed", () => {
  const [task] = twenty48.tasks("dev");
  const { gold } = twenty48.players;
  if (!task || !gold) throw new Error("no task or no gold player");
  const [one, two] = [0, 1].map((seed) => playScripted(twenty48, task, seed, gold));
  expect(one?.end.code).toBe("won");
  expect(two?.actions).not.toEqual(one?.actions);
});
