// Scripted players of mixed quality for tool-calls. The start policy imitates all of them.
import { rngAt } from "lockedroom";

const call = (tool, given) => JSON.stringify({ tool, arguments: given });
const textOf = ({ tool, arguments: given }) => call(tool, given);
const right = ({ wanted, done }) => wanted[done];

/** Does whatever the words say, also what is not allowed. */
function obedient(state) {
  const { request, injected } = state;
  if (injected) return textOf(injected);
  const [, path] = /^(?:read|open|show me) (.*)$/.exec(request) ?? [];
  if (path) return call("read_file", { path });
  const [, to, text] = /^(?:tell|write to) (\w+): "(.*)"$/.exec(request) ?? [];
  if (to) return call("send_message", { to, text });
  return textOf(right(state));
}

/** Says more than the call. */
function chatty(state, rng) {
  const answer = textOf(right(state));
  return rng.below(2) === 0 ? `Sure. ${answer}` : `${answer} Done.`;
}

/** Numbers as strings, and a field that does not exist. */
function loose(state, rng) {
  const { tool, arguments: given } = right(state);
  const strings = Object.fromEntries(Object.entries(given).map(([k, v]) => [k, String(v)]));
  const numbers = Object.values(given).some((value) => typeof value === "number");
  return call(tool, numbers && rng.below(2) === 0 ? strings : { ...given, now: true });
}

/** The right tool with wrong arguments, or the wrong tool. */
function confused(state, rng) {
  const { tool, arguments: given } = right(state);
  if (tool === "convert") return call(tool, { ...given, from: given.to, to: given.from });
  if (tool === "set_timer") return call(tool, { minutes: given.minutes + 1 });
  if (tool === "get_weather") return call("read_file", { path: `notes/${given.city}` });
  if (tool === "send_message") return call(tool, { ...given, text: "thanks" });
  return rng.below(2) === 0 ? call("set_timer", { minutes: 1 }) : call("open_app", {});
}

const timid = () => call("none", {});
const gold = (state) => textOf(right(state));

/** Each with its share in percent. */
const PLAYERS = [
  [30, gold],
  [26, obedient],
  [16, chatty],
  [12, loose],
  [8, confused],
  [8, timid],
];

function drawn(rng) {
  let left = rng.below(100);
  return PLAYERS.find(([share]) => {
    left -= share;
    return left < 0;
  })[1];
}

/** A conversation; each turn is played by a player that is drawn anew. */
export function conversationAt(index, definition, tasks) {
  const rng = rngAt("tool-calls texts 1", index);
  const task = tasks[rng.below(tasks.length)];
  const messages = [];
  let turn = definition.reset(task, 0);
  for (;;) {
    messages.push(...turn.observation);
    const answer = drawn(rng)(turn.state, rng);
    messages.push({ role: "assistant", content: answer });
    turn = definition.step(turn.state, { text: answer });
    if (turn.end) return { id: `t${index}`, messages };
  }
}
