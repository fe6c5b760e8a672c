/** What an environment is: its tasks, turns, rewards and codes, and its first task. */

import { SPLITS, type Split } from "../core/environment.ts";
import { rngAt } from "../core/rng.ts";
import { visible } from "../core/visible.ts";
import { episodeSeed } from "../environments/episode.ts";
import type { OpenedEnvironment } from "../environments/open.ts";
import type { RemotePlayable } from "../openenv/open-playable.ts";
import { printObservation, requireSound } from "./env-observation.ts";
import { exampleAnswer, toolText } from "./environment-text.ts";
import type { Format } from "./options.ts";
import { hanging, out, paint, print, printableJson } from "./terminal.ts";

interface ShowFlags {
  readonly format: Format;
  readonly split: Split;
}

export function showEnvironment(
  { definition, identity }: OpenedEnvironment,
  { format }: ShowFlags,
): void {
  const { codes, solved, rewards, maxTurns, random, tools = [] } = definition;
  const tasks = Object.fromEntries(SPLITS.map((split) => [split, definition.tasks(split).length]));
  if (format === "json") {
    const found = {
      ...identity,
      codes,
      solved,
      rewards,
      max_turns: maxTurns,
      random,
      tasks,
      tools,
    };
    out(printableJson(found, 2));
    return;
  }
  out(paint("bold", `${visible(identity.name)} ${visible(identity.version)}`));
  print(visible(identity.spec), "  ");
  out();
  const line = (label: string, text: string) => out(hanging(`  ${label.padEnd(10)}`, text));
  line("tasks", SPLITS.map((split) => `${tasks[split]} ${split}`).join(", "));
  line("turns", `at most ${maxTurns}`);
  line("reward", rewards ? `${rewards[0]} to ${rewards[1]}` : "none of its own");
  line("random", random ? "episodes of a task differ by their seed" : "no");
  line(
    "codes",
    codes.map((code) => (solved.includes(code) ? `${code} (solved)` : code)).join(", "),
  );
  for (const tool of tools) line("tool", toolText(tool));
  const example = exampleAnswer(definition);
  if (example !== undefined) line("answer", `such as ${example}`);
  line("source", identity.source_sha256);
  const [task] = definition.tasks("dev");
  if (!task) return;
  out();
  out("  The first dev task, as a policy reads it:");
  out();
  const { observation, end } = definition.reset(task, episodeSeed(0, task));
  requireSound(task, end);
  printObservation(observation);
}

export async function showRemote(
  opened: RemotePlayable,
  { format, split }: ShowFlags,
): Promise<void> {
  const { environment, tools, codes, solved, remote } = opened;
  const { identity, episodesAtOnce = 1 } = environment;
  if (format === "json") {
    out(printableJson({ ...identity, codes, solved, ...remote, tools }, 2));
    return;
  }
  out(paint("bold", `${visible(String(identity.name))} ${visible(String(identity.version))}`));
  print(visible(String(identity.spec)), "  ");
  out();
  const line = (label: string, text: string) =>
    out(hanging(`  ${label.padEnd(10)}`, visible(text)));
  line("server", (identity.remote as { url: string }).url);
  line("tasks", remote.tasks);
  line("action", remote.actions);
  line("seeds", remote.seeds);
  line("episodes", `at most ${episodesAtOnce} at once, as far as is known`);
  line("codes", codes.length > 0 ? codes.join(", ") : "the server does not say");
  line("solved", solved.length > 0 ? solved.join(", ") : "the server does not say");
  for (const tool of tools) line("tool", toolText(tool));
  line("told", `${identity.source_sha256} (SHA-256 of /metadata and /schema)`);
  const [task] = await opened.tasks(split);
  if (!task) return;
  out();
  out(`  The first ${split} task, as a policy reads it:`);
  out();
  const { observation, end } = await environment.reset(task, rngAt(0));
  requireSound(task, end);
  printObservation(observation);
}
