/** The head of a run of scored rows: what every evaluation, selection and experiment has. */

import path from "node:path";
import type { JsonObject } from "../../core/json.ts";
import type { RolloutFailure } from "../../core/trajectory.ts";
import { visible } from "../../core/visible.ts";
import { instrumentWord, MEASURED_BY } from "../../runs/instrument-word.ts";
import type { Fact } from "../page/facts.ts";
import type { Figure } from "../page/figure-tiles.ts";
import { editedWarning } from "../page/head.ts";
import { codeHtml, html } from "../page/html.ts";
import { grouped, many, NONE, percent, percentRange, plain } from "../page/numbers.ts";
import { passInterval } from "./interval.ts";
import type { ScoredRun } from "./read.ts";

export const passRateOf = ({ passed, scored }: ScoredRun): number | undefined =>
  scored === 0 ? undefined : passed / scored;

export function sentenceOf({ rows, manifest }: ScoredRun): string {
  const { scorer, environment } = manifest;
  const nondeterministic = scorer.deterministic === false ? ", which is not deterministic" : "";
  const who = `${MEASURED_BY[instrumentWord(manifest)]} ${visible(`${scorer.name} ${scorer.version}`)}`;
  if (environment) return `${many(rows, "episode")}, ${who}.`;
  return `${many(rows, "row")}, ${who}${nondeterministic}.`;
}

/** Reasons not to trust the numbers. */
export function warningsOf(run: ScoredRun): string[] {
  const { edited, rows, manifest, summary, missing, broken, invalid, unrewarded } = run;
  const wanted = manifest.examples.count * repeatsOf(run);
  const { count: unknown } = summary.unknown_completions;
  const unscored = rows - run.scored;
  const other = unscored - missing - broken - invalid - unrewarded;
  const kinds = [
    missing > 0 &&
      `${grouped(missing)} without ${manifest.environment ? "an episode" : "a completion"}`,
    broken > 0 && `${grouped(broken)} on which the ${instrumentWord(manifest)} failed`,
    unrewarded > 0 && `${grouped(unrewarded)} for which the environment gives no reward`,
    invalid > 0 && `${grouped(invalid)} with an example that the scorer cannot read`,
    other > 0 && `${grouped(other)} for other reasons`,
  ].filter((kind) => kind !== false);
  return [
    ...editedWarning(edited),
    ...(rows === wanted
      ? []
      : [`The manifest states ${many(wanted, "row")}, not ${grouped(rows)}.`]),
    ...(unscored === 0
      ? []
      : [`${many(unscored, "row")} not scored: ${kinds.join(", ")}. Rates are over scored rows.`]),
    ...(summary.failures
      ? [
          `${many(summary.failures.count, "rollout")} failed; the first: ${visible(failureText(summary.failures.first[0]))}.`,
        ]
      : []),
    ...(unknown === 0
      ? []
      : [`${many(unknown, "completion")} with an id that is not in the data set.`]),
    ...summary.alarms.map(({ code, message }) => `${visible(code)}: ${visible(message)}`),
  ];
}

function failureText(failure: RolloutFailure | undefined): string {
  return failure ? `${failure.id}, ${failure.type}: ${failure.message.slice(0, 200)}` : "";
}

/** Samples of each example. */
function repeatsOf({ manifest: { settings } }: ScoredRun): number {
  return typeof settings.repeats === "number" ? settings.repeats : 1;
}

export function passFigure(run: ScoredRun, label = "Pass rate"): Figure {
  const interval = passInterval(run);
  const rate = passRateOf(run);
  return {
    label,
    value: rate === undefined ? NONE : percent(rate),
    note:
      interval === undefined
        ? "no row was scored"
        : `${percentRange(interval)}; ${grouped(run.passed)} of ${grouped(run.scored)}`,
  };
}

export function commonFigures(run: ScoredRun): Figure[] {
  const { meanReward, rows, scored, summary } = run;
  const kl = summary.metrics.mean_kl_est;
  const isGraded = meanReward !== null && meanReward !== passRateOf(run);
  return [
    ...(isGraded
      ? [{ label: "Mean reward", value: plain(meanReward), note: "over scored rows" }]
      : []),
    {
      label: "Rows",
      value: grouped(rows),
      note:
        repeatsOf(run) === 1
          ? `${grouped(scored)} scored`
          : `${grouped(repeatsOf(run))} samples of ${many(rows / repeatsOf(run), "example")}; ${grouped(scored)} scored`,
    },
    ...(kl === null
      ? []
      : [
          {
            label: "KL to the reference",
            value: plain(kl),
            note: "estimate, mean over rows; nats",
          },
        ]),
  ];
}

export function factsOf({ manifest }: ScoredRun): (Fact | undefined)[] {
  const { inputs, scorer, policy, prompt, sampling, learning, exposure, seeds_tried } = manifest;
  return [
    ...inputs.map(
      ({ role, path: file, rows }): Fact => [
        visible(role),
        html`${file === null ? "from memory" : codeHtml(path.basename(file))}, ${many(rows, "row")}`,
      ],
    ),
    [
      instrumentWord(manifest),
      html`${codeHtml(`${scorer.name} ${scorer.version}`)}: ${visible(scorer.spec)}`,
    ],
    jsonFact("policy", policy),
    jsonFact("prompt", prompt),
    jsonFact("sampling", sampling),
    jsonFact("learning", learning),
    exposure
      ? [
          "seen before",
          `${many(exposure.learned.rows, "prompt")} in training data, ${grouped(exposure.validated.rows)} in validation sets`,
        ]
      : undefined,
    typeof seeds_tried === "number" ? ["seeds tried", grouped(seeds_tried)] : undefined,
  ];
}

const HASH = /^[0-9a-f]{64}$/;

/** "name pi0, temperature 1": members that are one value each; fingerprints are shortened. */
export function jsonFact(name: string, value: JsonObject | null): Fact | undefined {
  const parts = Object.entries(value ?? {}).flatMap(([key, member]) => {
    if (member === null || member === "" || typeof member === "object") return [];
    const text = String(member);
    return [`${key} ${HASH.test(text) ? text.slice(0, 12) : text}`];
  });
  return parts.length === 0 ? undefined : [name, parts.join(", ")];
}
