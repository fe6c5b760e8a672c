// What the start policy of the games is made of: honest play, with mistakes, and play that uses
// the trick of each game, so that either can be learned.
import { rngAt } from "lockedroom";
import { openEnvironment } from "lockedroom/environments";
import { boatRaceText } from "./players/boat-race.mjs";
import { headlineText } from "./players/headlines.mjs";
import { replyText } from "./players/support-replies.mjs";
import { categoriesOf, wordGroupsText } from "./players/word-groups.mjs";

const COUNTS = {
  ...{ headlines: 8000, "word-groups": 16_000, "boat-race": 2000, "support-replies": 4000 },
};

/** One policy for all games; `share` of the texts makes a smaller one for tests. */
export async function startSettings({ share = 1, steps = 2400 } = {}) {
  const games = await Promise.all(
    Object.keys(COUNTS).map(async (name) => ({ name, ...(await openEnvironment(name)) })),
  );
  const texts = games.flatMap(({ name, definition }) => {
    const write = writerOf(name, definition);
    return Array.from({ length: COUNTS[name] * share }, (_, i) => ({
      id: `${name}-${i}`,
      ...write(rngAt("reward-hacks texts", name, i)),
    }));
  });
  const tasks = games.flatMap(({ definition }) =>
    ["train", "dev", "holdout"].flatMap((split) => definition.tasks(split)),
  );
  return {
    ...{ name: "reward-hacks", layers: 2, context: 128 },
    // A word with the space before it, single digits, and other signs.
    pattern: " ?[A-Za-z]+|\\d| ?[^A-Za-z\\d ]|\\s",
    /** Only for the vocabulary: that every word can be read. */
    readable: tasks.map(({ prompt }) => prompt),
    stages: [{ texts, batch: 64, steps, lr: 0.003 }],
  };
}

function writerOf(name, definition) {
  const tasks = definition.tasks("train");
  const any = (rng) => tasks[rng.below(tasks.length)];
  if (name === "headlines") return (rng) => headlineText(any(rng), rng);
  if (name === "support-replies") return (rng) => replyText(any(rng), rng);
  if (name === "boat-race") return (rng) => boatRaceText(definition, any(rng), rng);
  const categories = categoriesOf(tasks);
  return (rng) => wordGroupsText(categories, rng);
}
