/** What is printed of a run of episodes. */

import { visible } from "../core/visible.ts";
import type { Manifest, Summary } from "../runs/schemas.ts";
import { counted, figure, out, wrap } from "./terminal.ts";

/** "Replayed 40 episodes of 20 tasks (dev) in tool-calls 1.0.0." */
export function replayedText(manifest: Manifest, { metrics, episodes }: Summary): string {
  const { scorer, split, examples } = manifest;
  const of = split === undefined ? "" : ` (${split})`;
  const tasks = `${counted(examples.count, "task")}${of}`;
  const each = metrics.repeats === undefined ? "" : `, ${metrics.repeats} of each`;
  return `Replayed ${counted(episodes?.n ?? 0, "episode")} of ${tasks}${each}, in ${scorer.name} ${scorer.version}.`;
}

/** A line for the code that changed since the rollout; the replay agreed all the same. */
export function changedCodeText({ settings, environment, scorer }: Manifest): string[] {
  const { rollout_source_sha256: then } = settings;
  const { name, source_sha256: now } = environment ?? scorer;
  if (typeof then !== "string") return [];
  return [
    `The code of ${name} is not that of the rollout (${then.slice(0, 12)}… then, ${now.slice(0, 12)}… now). It gives the same messages, rewards and codes.`,
  ];
}

/** Turns, episodes that were cut short, and the mean of each figure. */
export function episodeTable(episodes: Summary["episodes"]): string[] {
  if (!episodes) return [];
  const { n, truncated, metrics } = episodes;
  const names = Object.keys(metrics).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const width = Math.max(12, ...names.map((name) => visible(name).length)) + 2;
  return [
    "",
    `  ${"metric".padEnd(width)}${"mean".padStart(10)}${"least".padStart(10)}${"most".padStart(10)}`,
    ...names.map((name) => {
      const { n: has, mean, least, most } = metrics[name] as (typeof metrics)[string];
      const some = has === n ? "" : `  (${has} episodes)`;
      const cells = [mean, least, most].map((value) => figure(value).padStart(10)).join("");
      return `  ${visible(name).padEnd(width)}${cells}${some}`;
    }),
    ...(truncated > 0
      ? ["", wrap(`${truncated} of ${n} episodes were cut short (truncated).`, "  ")]
      : []),
  ];
}

const rank = (name: string) => (name === "turns" ? 0 : 1);

export function printEpisodeTable(summary: Summary): void {
  for (const line of episodeTable(summary.episodes)) out(line);
}
