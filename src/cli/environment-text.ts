/** How an environment is answered: its tools as calls, and an answer of its gold player. */

import type { Tool } from "../core/environment.ts";
import { visible } from "../core/visible.ts";
import type { AnyDefinition } from "../environments/catalogue.ts";
import { episodeSeed } from "../environments/episode.ts";

/** `search(words, before?): …`; what may be left out has a question mark. */
export function toolText({ name, description, parameters }: Tool): string {
  const { properties, required } = parameters as { properties?: object; required?: string[] };
  const given = Object.keys(properties ?? {}).map((one) =>
    required?.includes(one) ? one : `${one}?`,
  );
  return visible(`${name}(${given.join(", ")}): ${description}`);
}

/**
 * What the gold player answers first to a train task, which shows the form of an answer without
 * giving away a task of dev or holdout.
 */
export function exampleAnswer(definition: AnyDefinition): string | undefined {
  const { gold } = definition.players;
  const [task] = definition.tasks("train");
  if (!gold || !task) return undefined;
  const { state, end } = definition.reset(task, episodeSeed(0, task));
  return end ? undefined : visible(gold(state));
}
