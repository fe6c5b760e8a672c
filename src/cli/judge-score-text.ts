/** What `judge score` prints. */

import { visible } from "../core/visible.ts";
import { pText } from "../gate/words.ts";
import type { JudgedTogether } from "../judge/judge-together.ts";
import type { Preferences } from "../judge/preferences.ts";
import type { FinishedRollout } from "../runs/finished-rollout.ts";
import type { JudgedRollout, JudgeSummary } from "../runs/judge-schemas.ts";
import type { RolloutEpisodes } from "../runs/rollout-schemas.ts";
import { tokensText } from "./judge-tokens.ts";
import {
  commandLines,
  counted,
  figure,
  hanging,
  out,
  paint,
  print,
  program,
  warning,
} from "./terminal.ts";

type Judge = JudgedRollout["identity"];

export function printJudgedRollout({ dir, manifest, summary }: FinishedRollout): void {
  const [judge, episodes] = [summary.judge as JudgeSummary, summary.episodes as RolloutEpisodes];
  const { identity } = manifest.judge as JudgedRollout;
  const { n, n_without_reward: without, reward_mean: mean, metrics } = episodes;
  print(
    `Judged ${counted(n - without, "episode")} of ${counted(judge.groups, "task")} by ${nameOf(identity)}.`,
  );
  printDropped(judge);
  out();
  line("mean score", mean === null ? "undefined: nothing was judged" : figure(mean));
  const { independent_reward: independent } = metrics;
  if (independent !== undefined) line("own reward", `${figure(independent)} on average`);
  printUse(judge, manifest.volatile.judge);
  out();
  print(`Rollout written to ${dir}`);
  const flags = [`--trajectories ${dir}`, `--n ${manifest.n}`, `--outdir ${dir}-best`];
  if (manifest.n > 1) out(commandLines(`Next: ${program()} selection-demo`, flags));
  else out(`Next: ${program()} inspect-run --run ${dir}`);
}

export function printComparison(found: JudgedTogether): void {
  const { baseline, candidate, preferences, judge } = found;
  const { manifest } = candidate;
  const each = Number(manifest.settings.repeats ?? 1);
  const { identity } = manifest.judge as NonNullable<typeof manifest.judge>;
  print(
    `Judged ${counted(each, "attempt")} of each rollout at ${counted(manifest.examples.count, "task")} by ${nameOf(identity)}.`,
  );
  printDropped(judge);
  const { n_missing: missing } = candidate.summary.metrics;
  if (missing > 0)
    out(warning(`${counted(missing, "pair")} could not be judged: a rollout has no episode.`));
  out();
  printPreferences(preferences);
  const means = [baseline, candidate].map(({ summary }) => summary.metrics.mean_reward);
  line("mean score", `baseline ${shown(means[0])}, candidate ${shown(means[1])}`);
  printUse(judge, manifest.volatile.judge);
  out();
  print(`Runs written to ${baseline.dir} and ${candidate.dir}`);
  const flags = [
    `--baseline ${baseline.dir}`,
    `--candidate ${candidate.dir}`,
    ...["--claim policy", "--judge-audit AUDIT"],
  ];
  out(commandLines(`Next: ${program()} gate`, flags));
}

function printPreferences(found: Preferences): void {
  const { preferred, not_preferred: lost, tied, win_rate: rate, win_rate_ci95: ci } = found;
  line("preferred", `candidate ${preferred}, baseline ${lost}, tied ${tied} (tasks)`);
  if (rate === null || ci === null || found.p_value === null)
    line("win rate", `undefined: ${tied > 0 ? "every task is tied" : "no task was judged"}`);
  else {
    const interval = `95 % interval ${ci[0].toFixed(3)} to ${ci[1].toFixed(3)}`;
    line(
      "win rate",
      `${paint("bold", rate.toFixed(4))} of ${preferred + lost} not tied, ${interval}`,
    );
    line("sign test", pText(found.p_value, 3));
  }
  const { agreement } = found;
  if (!agreement) return;
  const ties = agreement.tied > 0 ? `, ${agreement.tied} tied` : "";
  line(
    "agreement",
    `with the environment's rewards on ${agreement.agreed} of ${agreement.pairs} pairs of attempts that these tell apart${ties} (Somers' D ${agreement.somers_d.toFixed(2)})`,
  );
}

function printDropped({ dropped, groups, identical }: JudgeSummary): void {
  const types = Object.entries(dropped);
  const count = types.reduce((sum, [, n]) => sum + n, 0);
  if (count > 0) {
    const words = types.map(([type, n]) => `${type} ${n}`).join(", ");
    out(warning(`${count} of ${groups + count} groups have no verdict (${words}) and no scores.`));
  }
  if (identical > 0) out(warning(`In ${identical} of ${groups} groups all attempts are the same.`));
}

function printUse(judge: JudgeSummary, traffic?: { requests: number; from_cache: number }): void {
  line("judge", tokensText(judge));
  if (traffic)
    line("", `${traffic.requests} requests, ${traffic.from_cache} answers from the cache`);
}

function nameOf({ name, version, rubric_sha256: rubric }: Judge): string {
  return `${visible(name)} (prompt ${version}, rubric ${rubric.slice(0, 12)})`;
}

const shown = (value: number | null | undefined) => value?.toFixed(4) ?? "undefined";

function line(label: string, text: string): void {
  out(hanging(`  ${label.padEnd(12)}`, text));
}
