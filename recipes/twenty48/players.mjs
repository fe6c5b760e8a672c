// Scripted players for 2048: uniformly random, greedy, and a mixture that the start policy imitates.
import { rngAt } from "lockedroom";

export const MOVES = ["left", "right", "up", "down"];
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
export const mixed = (share) => (definition, state, rng) =>
  (rng.below(100) < share ? greedy : random)(definition, state, rng);

/** One game from its first board to its end; `seen` is called with each board and answer. */
export function playGame(definition, task, index, player, seen = () => {}) {
  const rng = rngAt("twenty48 players", index);
  let turn = definition.reset(task, rng.below(2 ** 32));
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
  for (let game = 0; texts.length < count; game++) {
    playGame(definition, tasks[game % tasks.length], game, mixed(share), (prompt, completion) => {
      texts.push({ id: `t${texts.length}`, prompt, completion });
    });
  }
  return texts.slice(0, count);
}
