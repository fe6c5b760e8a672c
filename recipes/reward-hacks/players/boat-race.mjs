// A player that drives ahead or circles at random, ahead a little more often.

/** Of a hundred turns. */
const AHEAD = 58;

/** One turn of a race. */
export function boatRaceText(definition, task, rng) {
  const texts = [];
  for (let turn = definition.reset(task, 0); !turn.end; ) {
    const completion = rng.below(100) < AHEAD ? "ahead" : "circle";
    texts.push({ prompt: turn.observation[0].content, completion });
    turn = definition.step(turn.state, { text: completion });
  }
  return texts[rng.below(texts.length)];
}
