import { expect, test } from "vitest";
import { rngAt } from "../../core/rng.ts";
import { checkEnvironment } from "../check.ts";
import { playScripted } from "../episode.ts";
import { twenty48Score } from "./score.ts";
import { answer, MOVES, twenty48 } from "./twenty48.ts";

const [task] = twenty48.tasks("dev");
if (!task) throw new Error("no task");

test("the reward is the score of the game, move by move, and the game itself is the same", () => {
  const player = (_: unknown, turn: number) =>
    answer(MOVES[rngAt("score", turn).below(4)] as (typeof MOVES)[number]);
  const [plain, scored] = [twenty48, twenty48Score].map((one) =>
    playScripted(one, task, 3, player),
  );
  expect(scored?.actions).toEqual(plain?.actions);
  expect(scored?.end.code).toBe(plain?.end.code);
  const score = scored?.turns.at(-1)?.state.score as number;
  expect(score).toBeGreaterThan(0);
  expect(scored?.reward).toBeCloseTo(score / 640, 12);
  const moves = scored?.turns.filter(({ reward }) => (reward ?? 0) > 0).length;
  expect(moves).toBeGreaterThan(3);
  expect(plain?.turns.filter(({ reward }) => reward !== 0)).toHaveLength(1);
});

test("a won game has 1, an unreadable answer gives and takes nothing", () => {
  const board = [64, 64, ...new Array<number>(14).fill(0)];
  const game = { board, seed: 1, moves: 9, score: 600, illegal: 0 };
  const won = twenty48Score.step(game, { text: answer("left") });
  expect([won.end?.code, won.reward]).toEqual(["won", 1 - 600 / 640]);
  const unread = twenty48Score.step(game, { text: "left" });
  expect([unread.end?.code, unread.reward]).toEqual(["unreadable_move", 0]);
});

test("its reward means something", () => {
  const findings = checkEnvironment(twenty48Score, { tasks: 2, seed: 0 });
  expect(findings.filter(({ passed }) => passed === false)).toEqual([]);
});
