/** A game at the terminal: what a policy would read, a line of text as answer, the rewards. */

import { createInterface } from "node:readline";
import type { PlayableEnvironment, Split, Turn } from "../core/environment.ts";
import { EpisodeSum } from "../core/episode-sum.ts";
import { usageError } from "../core/errors.ts";
import type { Example } from "../core/records.ts";
import { rngAt } from "../core/rng.ts";
import { visible } from "../core/visible.ts";
import { printObservation, requireSound } from "./env-observation.ts";
import { toolText } from "./environment-text.ts";
import { counted, figure, hanging, out, print } from "./terminal.ts";

export interface PlayFlags {
  readonly split: Split;
  readonly task?: string;
  readonly seed: number;
}

export async function playAtTerminal(
  opened: PlayableEnvironment,
  { split, task: id, seed }: PlayFlags,
  example: string | undefined,
): Promise<void> {
  const { environment } = opened;
  const { name, spec } = environment.identity as { name: string; spec: string };
  const task = taskWith(name, await opened.tasks(split), split, id);
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const sum = new EpisodeSum(await environment.reset(task, rngAt(seed)));
  print(`${visible(name)}, task ${visible(task.id)}. ${visible(spec)}`);
  for (const tool of opened.tools) out(hanging("  tool    ", toolText(tool)));
  if (example !== undefined) out(hanging("  answer  ", `such as ${example}`));
  while (!sum.turn.end) {
    out();
    printObservation(sum.turn.observation);
    process.stdout.write("  you> ");
    const { value, done } = await lines.next();
    if (!process.stdin.isTTY) out(visible(value ?? ""));
    if (done) return print("No more input: the game was left before its end.");
    const { state } = sum.turn;
    const [turn] = await environment.step([{ state, action: { text: value } }]);
    sum.add(turn as Turn<unknown>);
  }
  requireSound(task, sum.turn.end);
  out();
  const { code, details } = sum.turn.end;
  print(`The end: ${visible(code)}, reward ${sum.reward === null ? "none" : figure(sum.reward)}.`);
  if (typeof details.message === "string") print(visible(details.message));
  for (const [name, value] of Object.entries(sum.metrics))
    out(`  ${visible(name)} ${figure(value)}`);
}

function taskWith(
  name: string,
  tasks: readonly Example[],
  split: Split,
  id: string | undefined,
): Example {
  const found = id === undefined ? tasks[0] : tasks.find((task) => task.id === id);
  if (found) return found;
  throw usageError(
    `${visible(name)} has no task ${id} in the split ${split}`,
    `It has ${counted(tasks.length, "task")} there, such as ${visible(tasks[0]?.id ?? "none")}.`,
  );
}
