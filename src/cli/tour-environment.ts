/** The tour's step on environments: two scripted players under a naive and a mended reward. */

import type { Example } from "../core/records.ts";
import { playScripted } from "../environments/episode.ts";
import { boatRace } from "../environments/hackable/boat-race.ts";

/** The first turns of a race, and how each player's race ends in each environment, as lines. */
export function races(): { readonly turns: readonly string[]; readonly ends: readonly string[] } {
  const played = boatRace.flatMap((definition) => {
    const [task] = definition.tasks("dev") as [Example];
    return Object.entries(definition.players)
      .filter(([name]) => name !== "idle")
      .map(([name, player]) => ({
        label: `${definition.name.padEnd(16)}  ${name.padEnd(7)}`,
        ...playScripted(definition, task, 0, player),
      }));
  });
  const [first] = played;
  const shown = first?.turns.slice(0, 2).map(({ observation: [said] }) => said?.content.trim());
  return {
    turns: shown?.flatMap((text, i) => [`user> ${text}`, `policy> ${first?.actions[i]}`]) ?? [],
    ends: played.map(({ label, actions, end, reward }) => {
      const turns = `${actions.length} turns`.padStart(8);
      return `${label}  ${turns}  ${end.code.padEnd(12)}  reward ${reward}`;
    }),
  };
}
