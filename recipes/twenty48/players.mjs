// Scripted players for 2048: uniformly random, greedy, and a mixture that the start policy imitates.
import { rngAt } from "lockedroom";

const MOVES = ["left", "right", "up", "down"];
const answer = (move) => `<move>${move}</move>`;

export const random = (_definition, _state, rng) => answer(MOVES[rng.below(MOVES.length)]);

/** The legal move that merges most; of equal ones the first. */
export function greedy(definition, state) {
  const tried = MOVES.map((move) => {
    const { state: next } = definition.step(state, { text: answer(move) });
    return { move, gain: next.moves > state.moves ? next.score - state.score : -1 };
  });
  return answer(tried.reduce((best, one) => (one.gain > best.gain ? one : best)).move);
}

/** Greedy in so many of a hundred moves, and random in the others. */
const mixed = (share) => (definition, state, rng) =>
  (rng.below(100) < share ? greedy : random)(definition, state, rng);

/** Plays one game; `seen` is called with each board and answer. Returns the last turn. */
function playGame(definition, { task, seed, rng }, player, seen = () => {}) {
  let turn = definition.reset(task, seed);
  for (let i = 0; i < definition.maxTurns && !turn.end; i++) {
    const text = player(definition, turn.state, rng);
    seen(turn.observation[0].content, text);
    turn = definition.step(turn.state, { text });
  }
  return turn;
}

/** Positions of games, each with the answer that was played there. */
export function textsOf(definition, share, count) {
  const tasks = definition.tasks("train");
  const texts = [];
  for (let i = 0; texts.length < count; i++) {
    const rng = rngAt("twenty48 texts", share, i);
    const game = { task: tasks[i % tasks.length], seed: rng.below(2 ** 32), rng };
    playGame(definition, game, mixed(share), (prompt, completion) => {
      texts.push({ id: `t${texts.length}`, prompt, completion });
    });
  }
  return texts.slice(0, count);
}

/** The share of holdout games that a player wins; their tiles are not those of a rollout. */
export function shareWon(definition, player, count) {
  const won = definition
    .tasks("holdout")
    .slice(0, count)
    .filter((task) => {
      const seed = rngAt(0, "episode", task.id, 0, "environment").below(2 ** 32);
      const rng = rngAt("twenty48 players", task.id);
      return playGame(definition, { task, seed, rng }, player).end?.code === "won";
    });
  return won.length / count;
}
