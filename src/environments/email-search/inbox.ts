/** An inbox of 5,000 mails, the same at every start. Each tells one fact about one project. */

import { type Rng, rngAt, shuffled } from "../../core/rng.ts";

export interface Mail {
  readonly message_id: string;
  readonly from: string;
  readonly to: string;
  /** Year, month and day. */
  readonly sent: string;
  readonly subject: string;
  readonly body: string;
}

/** What one mail says about a project. */
export interface Fact {
  readonly project: string;
  readonly topic: Topic;
  readonly answer: string;
  readonly message_id: string;
}

export interface Inbox {
  readonly mails: readonly Mail[];
  readonly facts: readonly Fact[];
  /** Pairs of a project and a topic about which no mail says anything. */
  readonly unknown: readonly Pick<Fact, "project" | "topic">[];
}

export const MAIL_COUNT = 5000;
const OWNER = "kim@example.com";

const COLOURS = words("amber azure black brown coral green ivory lilac ochre olive white khaki");
const ANIMALS = words(
  "adder bison camel crane eagle finch gecko heron hyena koala lemur llama moose otter panda quail raven shark skunk sloth snail squid stork swift tapir tiger trout viper whale zebra",
);
const PLACES = words("north south east west upper lower");
const PEOPLE = words("ada ben cleo dan eva finn gus hana ivo jane karl lena max nora oli pia");
const ROOMS = words("A1 A2 B1 B2 C1 C2 D1 D2");
const CITIES = words("Bern Cork Graz Kiel Lyon Nice Oslo Pisa Riga Turku");

const TOPICS = {
  meeting: {
    question: "When is the meeting about",
    say: (project: string, answer: string) => `The meeting about ${project} is at ${answer}.`,
    draw: (rng: Rng) => `${8 + rng.below(10)}:${pick(["00", "15", "30", "45"], rng)}`,
  },
  room: {
    question: "Which room is booked for",
    say: (project: string, answer: string) => `Room ${answer} is booked for ${project}.`,
    draw: (rng: Rng) => pick(ROOMS, rng),
  },
  price: {
    question: "How many euros is the offer for",
    say: (project: string, answer: string) => `The offer for ${project} is ${answer} euros.`,
    draw: (rng: Rng) => String(100 + 10 * rng.below(890)),
  },
  lead: {
    question: "Who leads",
    say: (project: string, answer: string) => `From now on ${answer} leads ${project}.`,
    draw: (rng: Rng) => pick(PEOPLE, rng),
  },
  city: {
    question: "Which city hosts",
    say: (project: string, answer: string) => `The city that hosts ${project} is ${answer}.`,
    draw: (rng: Rng) => pick(CITIES, rng),
  },
} as const;

export type Topic = keyof typeof TOPICS;

export function questionAbout({ topic, project }: Pick<Fact, "topic" | "project">): string {
  return `${TOPICS[topic].question} ${project}?`;
}

let made: Inbox | undefined;

/** Made once, at the first call. */
export function inbox(): Inbox {
  made ??= makeInbox();
  return made;
}

function makeInbox(): Inbox {
  const projects = PLACES.flatMap((place) =>
    COLOURS.flatMap((colour) => ANIMALS.map((animal) => `${place} ${colour} ${animal}`)),
  );
  const all = projects.flatMap((project) =>
    (Object.keys(TOPICS) as Topic[]).map((topic) => ({ project, topic })),
  );
  const mixed = shuffled(all, rngAt("inbox", "facts"));
  const facts = mixed.slice(0, MAIL_COUNT).map(
    (fact, i): Fact => ({
      ...fact,
      answer: TOPICS[fact.topic].draw(rngAt("inbox", "answer", i)),
      message_id: `m${i + 1}`,
    }),
  );
  return { mails: facts.map(mailOf), facts, unknown: mixed.slice(MAIL_COUNT) };
}

function mailOf(fact: Fact, i: number): Mail {
  const rng = rngAt("inbox", "mail", i);
  const [month, day] = [1 + rng.below(12), 1 + rng.below(28)].map((n) =>
    String(n).padStart(2, "0"),
  );
  const from = `${pick(PEOPLE, rng)}@example.com`;
  return {
    ...{ message_id: fact.message_id, from, to: OWNER, sent: `2025-${month}-${day}` },
    subject: `${fact.project}: ${fact.topic}`,
    body: `${pick(GREETINGS, rng)} ${TOPICS[fact.topic].say(fact.project, fact.answer)}`,
  };
}

const GREETINGS = ["Hi Kim.", "Hello.", "Dear Kim.", "Just so you know.", "As promised."];

function pick<T>(list: readonly T[], rng: Rng): T {
  return list[rng.below(list.length)] as T;
}

function words(text: string): string[] {
  return text.split(" ");
}
