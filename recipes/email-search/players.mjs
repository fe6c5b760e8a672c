// A scripted player for email-search that makes each of several mistakes now and then. It reads only
// what a policy reads: the question and what the tools return.
import { rngAt } from "lockedroom";

const UNKNOWN = "I don't know";
/** The word in the subject of a mail for each question. */
const TOPICS = [
  [/^When is the meeting/, "meeting", /is at (\d+:\d+)\./],
  [/^Which room/, "room", /Room (\w+) is booked/],
  [/^How many euros/, "price", /is (\d+) euros/],
  [/^Who leads/, "lead", /now on (\w+) leads/],
  [/^Which city/, "city", /is (\w+)\.$/],
];
const GUESSES = {
  ...{ meeting: ["9:00", "14:30"], room: ["A1", "C2"], price: ["500", "1200"] },
  ...{ lead: ["ada", "max"], city: ["Oslo", "Bern"] },
};

const call = (tool, given) => JSON.stringify({ tool, arguments: given });
const search = (...keywords) => call("search_emails", { keywords });
const read = (message_id) => call("read_email", { message_id });
const final = (answer, sources) => call("return_final_answer", { answer, sources });

/** In so many of a hundred cases each. */
const MISTAKES = {
  ...{ vague_search: 22, project_only: 30, early_unknown: 6, guess: 8, first_mail: 35 },
  ...{ read_again: 12, no_sources: 20, sentence: 12, bad_json: 2 },
};

function aboutOf(question) {
  const [, topic, pattern] = TOPICS.find(([asks]) => asks.test(question));
  const project = question.replace("?", "").split(" ").slice(-3);
  return { topic, pattern, project };
}

/** What the player writes next. `mails` are the results of the last search, `body` of the last read. */
function nextAnswer({ question, turns, mails, body, opened }, rng) {
  const { topic, pattern, project } = aboutOf(question);
  const slips = (name) => rng.below(100) < MISTAKES[name];
  const name = project.join(" ");
  if (slips("bad_json")) return `I search for ${name}.`;
  if (turns === 0) {
    if (slips("vague_search")) return search(rng.below(2) === 0 ? project[2] : topic);
    return slips("project_only") ? search(name) : search(name, topic);
  }
  if (slips("early_unknown")) return final(UNKNOWN, []);
  if (slips("guess")) return final(GUESSES[topic][rng.below(2)], []);
  const found = body && pattern.exec(body)?.[1];
  if (found && body.includes(name)) {
    if (slips("read_again")) return read(opened);
    const answer = slips("sentence") ? body.split(". ").at(-1) : found;
    return final(answer, slips("no_sources") ? [] : [opened]);
  }
  const right = mails.find(({ snippet }) => snippet === `${name}: ${topic}`);
  if (mails.length > 0 && slips("first_mail")) return read(mails[0].message_id);
  if (right) return read(right.message_id);
  const complete = mails.every(({ snippet }) => snippet.startsWith(name));
  return complete || turns > 6 ? final(UNKNOWN, []) : search(name, topic);
}

/** A conversation of the player about a task of the training split. */
export function conversationAt(index, definition, tasks) {
  const rng = rngAt("email-search texts 1", index);
  const task = tasks[rng.below(tasks.length)];
  const messages = [];
  const known = { question: task.prompt, turns: 0, mails: [], body: "", opened: "" };
  for (let turn = definition.reset(task, 0); ; ) {
    messages.push(...turn.observation);
    const content = nextAnswer(known, rng);
    messages.push({ role: "assistant", content });
    turn = definition.step(turn.state, { text: content });
    if (turn.end) return { id: `t${index}`, messages };
    known.turns++;
    const result = turn.observation[0].content.trim();
    if (content.includes('"read_email"')) {
      known.body = result;
      known.opened = JSON.parse(content).arguments.message_id;
    } else known.mails = JSON.parse(result);
  }
}
