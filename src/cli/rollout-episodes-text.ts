/** The printed summary of a rollout in an environment. */

import type { Trajectory } from "../core/trajectory.ts";
import type { FinishedRollout } from "../runs/finished-rollout.ts";
import type { RolloutEpisodes } from "../runs/rollout-schemas.ts";
import { printCost, printTiming, trainedOn } from "./rollout-text.ts";
import {
  commandLines,
  figure,
  hanging,
  out,
  percent,
  print,
  program,
  warning,
} from "./terminal.ts";

/** Tokens that the policy wrote, as far as they were counted. */
export function writtenTokens({ messages }: Trajectory): number {
  return messages.reduce(
    (sum, one) => sum + (one.role === "assistant" ? (one.sampled.completion_tokens ?? 0) : 0),
    0,
  );
}

interface Asked {
  readonly env: string;
  readonly policy: string;
}

export function printEpisodes(
  { dir, manifest, summary }: FinishedRollout,
  { env, policy }: Asked,
  kept: number,
  notices: readonly string[],
): void {
  const episodes = summary.episodes as RolloutEpisodes;
  const each = manifest.n === 1 ? "one episode" : `${manifest.n} episodes`;
  print(
    `Played ${each} of each of ${summary.n_examples} tasks of ${env} (${manifest.split}) with ${policy}.`,
  );
  if (kept > 0) out(`  ${kept} of ${episodes.n} are from an earlier session.`);
  for (const notice of notices) out(warning(notice));
  const { rows: learned = 0, first_ids: ids = [] } = manifest.exposure?.learned ?? {};
  if (learned > 0) out(warning(trainedOn(learned, summary.n_examples, ids, "tasks")));
  if (episodes.n_failed > 0) out(warning(failedText(episodes)));
  out();
  printFigures(episodes);
  const { n_refused: refused, n_answers: turns } = summary;
  if (refused > 0) out(`  refusals: ${refused} of ${turns} turns`);
  printCost(summary.cost);
  printTiming(manifest.volatile.timing);
  out();
  print(`Rollout written to ${dir}`);
  const flags = [`--trajectories ${dir}`, `--outdir ${dir}-scored`];
  out(commandLines(`Next: ${program()} eval`, flags));
}

function failedText({ n, n_failed: failed, failures }: RolloutEpisodes): string {
  return `${failed} of ${n + failed} episodes failed (${counts(failures)}) and are in no figure below; failures.jsonl says why.`;
}

function printFigures(episodes: RolloutEpisodes): void {
  const { n, n_solved: solved, n_truncated: cut, turns, n_without_reward: without } = episodes;
  const { pass_rate: rate, reward_mean: reward } = episodes;
  if (rate === null || reward === null) out("  pass rate: undefined, no episode has a reward");
  else {
    out(`  pass rate: ${percent(rate)} (${solved} of ${n - without} episodes solved)`);
    const none = without > 0 ? ` (${without} episodes have none)` : "";
    out(`  mean reward: ${figure(reward)}${none}`);
  }
  out(hanging("  codes: ", counts(episodes.codes)));
  out(`  turns: ${figure(turns.mean)} on average, ${turns.most} at most`);
  if (cut > 0) out(`  cut short: ${cut} of ${n} episodes`);
  const metrics = Object.entries(episodes.metrics).filter(([name]) => name !== "turns");
  if (metrics.length > 0) {
    const means = metrics.map(([name, mean]) => `${name} ${figure(mean)}`);
    out(hanging("  metrics (means): ", means.join(", ")));
  }
}

function counts(of: Readonly<Record<string, number>>): string {
  return Object.entries(of)
    .sort(([a, m], [b, k]) => k - m || (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}
