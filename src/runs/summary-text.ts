/** summary.md, and what a reader of the numbers has to know first. The run note is run-note.ts. */

import { ENVIRONMENT_ERROR } from "../core/environment.ts";
import { INVALID_EXAMPLE } from "../core/score.ts";
import { visibleShort } from "../core/visible.ts";
import { code } from "./run-note.ts";
import type { Summary } from "./schemas.ts";

/** summary.md. */
export function summaryText(
  title: string,
  summary: Summary,
  remarks: readonly string[] = [],
): string {
  const { metrics, outcomes } = summary;
  const counts = Object.entries(outcomes.counts).sort(
    (a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1),
  );
  return [
    `# ${title}`,
    "",
    ...warnings(summary).map((line) => `> **${line}**\n`),
    "| metric | value |",
    "|---|---|",
    `| pass rate | ${rate(metrics.pass_rate)}${interval(metrics.pass_rate_ci95)} |`,
    `| mean reward | ${rate(metrics.mean_reward)}${interval(metrics.mean_reward_ci95)} |`,
    `| passed / failed | ${metrics.n_pass} / ${metrics.n_fail} |`,
    `| scored of all | ${metrics.n_scored} of ${metrics.n_examples} |`,
    ...(metrics.repeats === undefined
      ? []
      : [
          `| examples, samples of each | ${metrics.n_examples / metrics.repeats}, ${metrics.repeats} |`,
        ]),
    ...(metrics.mean_kl_est === null
      ? []
      : [`| mean KL estimate (k1) | ${rate(metrics.mean_kl_est)} |`]),
    "",
    ...remarks.map((line) => `${line}\n`),
    ...episodeTable(summary.episodes),
    ...Object.entries(summary.slices ?? {}).flatMap(([field, values]) => sliceTable(field, values)),
    ...axisTable(summary.axes),
    "| outcome code | rows | share |",
    "|---|---|---|",
    ...counts.map(
      ([code, n]) => `| \`${code}\` | ${n} | ${((100 * n) / metrics.n_examples).toFixed(1)} % |`,
    ),
    "",
  ].join("\n");
}

function sliceTable(field: string, values: NonNullable<Summary["slices"]>[string]): string[] {
  return [
    `| ${code(field)} | scored | pass rate | mean reward |`,
    "|---|---|---|---|",
    ...values.map(
      (one) =>
        `| ${code(one.value).replaceAll("|", "\\|")} | ${one.n_scored} | ${rate(one.pass_rate)}${interval(one.pass_rate_ci95)} | ${rate(one.mean_reward)}${interval(one.mean_reward_ci95)} |`,
    ),
    "",
  ];
}

function episodeTable(episodes: Summary["episodes"]): string[] {
  if (!episodes) return [];
  return [
    `Episodes: ${episodes.n}; cut short: ${episodes.truncated}.`,
    "",
    "| metric | episodes | mean | least | most |",
    "|---|---|---|---|---|",
    ...Object.entries(episodes.metrics).map(
      ([name, { n, mean, least, most }]) =>
        `| ${code(name)} | ${n} | ${rate(mean)} | ${least} | ${most} |`,
    ),
    "",
  ];
}

function axisTable(axes: Summary["axes"] = {}): string[] {
  const names = Object.keys(axes);
  if (names.length === 0) return [];
  return [
    "| axis | scored | mean | codes |",
    "|---|---|---|---|",
    ...names.map((name) => {
      const { scored, mean, ci95, codes } = axes[name] as NonNullable<Summary["axes"]>[string];
      const list = Object.entries(codes).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
      const shown = list.map(([one, count]) => `${code(one)} ${count}`).join(", ");
      return `| ${code(name)} | ${scored} | ${rate(mean)}${interval(ci95)} | ${shown.replaceAll("|", "\\|")} |`;
    }),
    "",
  ];
}

/** What a reader of the numbers has to know first. */
export function warnings({
  metrics,
  outcomes,
  scorer,
  axes,
  episodes,
  failures,
  unknown_completions: unknown,
  alarms,
}: Summary): string[] {
  const lines: string[] = alarms.map(({ code, message }) => `${code}: ${message}`);
  const invalid = outcomes.counts[INVALID_EXAMPLE] ?? 0;
  if (invalid > 0) {
    const which = invalid === metrics.n_examples ? "Every example is" : `${invalid} examples are`;
    lines.push(
      `${which} invalid for the scorer ${scorer.name}: a fault of the data or of the choice of scorer, not of the model. They have no reward, and the gate will refuse this run. See the reasons with inspect-run, or choose another --scorer.`,
    );
  }
  const broken = outcomes.counts[ENVIRONMENT_ERROR] ?? 0;
  if (broken > 0) {
    lines.push(
      `The environment broke in ${broken} episodes (${ENVIRONMENT_ERROR}): they have no reward, and the gate will refuse this run. See the reasons with inspect-run.`,
    );
  }
  if (episodes && metrics.n_scored === 0 && episodes.n > broken) {
    lines.push(
      `The environment ${scorer.name} gives no reward, so nothing is scored and the gate will refuse this run.`,
    );
  }
  if (failures) {
    const named = failures.first.map(
      ({ id, sample, type }) => `${visibleShort(id, 40)} sample ${sample + 1}: ${type}`,
    );
    const more = failures.count > named.length ? ", …" : "";
    lines.push(`Rollouts that failed: ${failures.count} (${named.join(", ")}${more}).`);
  }
  if (metrics.n_scorer_error > 0) {
    lines.push(
      `${metrics.n_scorer_error} rows could not be scored (scorer_error): the gate will refuse this run.`,
    );
  }
  for (const [name, { errors, codes }] of Object.entries(axes ?? {})) {
    const count = errors + (codes[INVALID_EXAMPLE] ?? 0);
    if (count > 0)
      lines.push(
        `${count} rows could not be measured on the axis ${name}: the gate will refuse this run.`,
      );
  }
  if (metrics.n_missing > 0) {
    const missing =
      metrics.repeats === undefined
        ? `${episodes ? "Tasks without an episode" : "Examples without a completion"}: ${metrics.n_missing}.`
        : `Missing ${episodes ? "episodes" : "samples"}: ${metrics.n_missing} of ${metrics.n_examples}.`;
    lines.push(`${missing} The gate will refuse this run.`);
  }
  if (unknown.count > 0) {
    lines.push(
      `Answers that name no example of the data set: ${unknown.count} (${unknown.first_ids.map((id) => visibleShort(id, 40)).join(", ")}).`,
    );
  }
  return lines;
}

function rate(value: number | null): string {
  return value === null ? "undefined" : value.toFixed(4);
}

function interval(bounds: [number, number] | null | undefined): string {
  return bounds ? ` (95 % interval ${bounds[0].toFixed(4)} to ${bounds[1].toFixed(4)})` : "";
}
