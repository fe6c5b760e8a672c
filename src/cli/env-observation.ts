/** What a policy reads in an environment, as it is printed. */

import { ENVIRONMENT_ERROR, type EpisodeEnd } from "../core/environment.ts";
import { dataError } from "../core/errors.ts";
import type { Example } from "../core/records.ts";
import { visible } from "../core/visible.ts";
import { out } from "./terminal.ts";

export function printObservation(messages: readonly { role: string; content: string }[]): void {
  for (const { role, content } of messages) {
    for (const line of content.trimEnd().split("\n")) out(`  ${role}> ${visible(line)}`);
  }
}

/** An environment that broke is an error and not the end of a game. */
export function requireSound({ id }: Example, end: EpisodeEnd | undefined): void {
  if (end?.code !== ENVIRONMENT_ERROR) return;
  throw dataError(
    `the environment failed on ${visible(id)}: ${visible(String(end.details.message))}`,
    "Correct the environment: no reward can be had from one that fails.",
  );
}
