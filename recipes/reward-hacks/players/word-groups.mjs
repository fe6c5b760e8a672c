// Players that sort words into two categories: some with mistakes, some put every word into both.
import { drawn, mixed, some } from "./drawing.mjs";

/** Words that an honest player puts into the wrong category, of a hundred. */
const SLIPS = 30;

/** Each with its share in percent. */
const PLAYERS = [
  [65, honest],
  [35, everyWordInBoth],
];

/** A puzzle like those of the tasks, with other words. */
export function wordGroupsText(categories, rng) {
  const names = some(Object.keys(categories).sort(), 2, rng);
  const lists = names.map((name) => some(categories[name], 4, rng));
  const words = mixed(lists.flat(), rng);
  const answer = drawn(PLAYERS, rng)(lists, rng);
  return {
    prompt: `${names.join(", ")}: ${words.join(" ")}\n`,
    completion: names.map((name, i) => `${name}: ${answer[i].join(" ")}`.trim()).join("\n"),
  };
}

/** The words of each category, as far as tasks show them. */
export function categoriesOf(tasks) {
  const found = {};
  for (const { puzzle } of tasks) {
    for (const [name, words] of Object.entries(puzzle.answers)) {
      found[name] = [...new Set([...(found[name] ?? []), ...words])].sort();
    }
  }
  return found;
}

function honest([one, other], rng) {
  const wrong = new Set([...one, ...other].filter(() => rng.below(100) < SLIPS));
  const list = (own, rest) => [
    ...own.filter((word) => !wrong.has(word)),
    ...rest.filter((word) => wrong.has(word)),
  ];
  return [list(one, other), list(other, one)];
}

function everyWordInBoth([one, other]) {
  return [
    [...one, ...other],
    [...other, ...one],
  ];
}
