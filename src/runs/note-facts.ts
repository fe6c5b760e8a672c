/** What each kind of run says about itself in its note. */

import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { LOOPS } from "../core/knobs.ts";
import type { JudgeAudit, JudgeAuditManifest } from "./judge-audit-schema.ts";
import { FAULT_WORDS, TRUSTED_WORDS, trustedSentence } from "./judge-audit-words.ts";
import type { PairRow, PairsManifest, PairsSummary } from "./preference-schemas.ts";
import type { ReviewLabel, ReviewManifest, ReviewSummary } from "./review-schemas.ts";
import type { RolloutManifest, RolloutSummary } from "./rollout-schemas.ts";
import { code, type NoteFacts } from "./run-note.ts";
import type { Manifest, ResultRow, Summary } from "./schemas.ts";
import { warnings } from "./summary-text.ts";
import type { Sweep } from "./sweep-schema.ts";
import type { SampleRecord } from "./train-records.ts";
import type { TrainManifest, TrainSummary } from "./train-schemas.ts";

/** An evaluation, a selection or a tabular experiment. */
export function scoredFacts(
  manifest: Manifest,
  summary: Summary,
  examples: readonly ResultRow[],
  happened: string,
): NoteFacts {
  return {
    loop: `${manifest.loop} (${LOOPS[manifest.loop]})`,
    evidence: [
      ...manifest.inputs.map(input),
      scorer(manifest.scorer),
      prompts(manifest),
      sampling(manifest.sampling),
      ...settings("selection", manifest.selection),
      ...settings("learning", manifest.learning),
    ],
    happened,
    warnings: warnings(summary),
    examples: examples.map((row) => {
      const saw = row.completion === null ? "no completion" : code(row.completion);
      const expected = code(JSON.stringify(row.expected_answer));
      return `${code(row.id)} → ${code(row.outcome_code)}: expected ${expected}, saw ${saw}`;
    }),
  };
}

/** An answer as the note of a rollout shows it. */
export interface NotedAnswer {
  readonly id: string;
  readonly completion: string;
  readonly finish: string;
}

export function rolloutFacts(
  manifest: RolloutManifest,
  summary: Omit<RolloutSummary, "schema" | "files" | "manifest_sha256">,
  examples: readonly NotedAnswer[],
): NoteFacts {
  const { prompt_tokens: read, completion_tokens: written } = summary.cost;
  const finish = Object.entries(summary.finish).map(([reason, count]) => `${reason} ${count}`);
  return {
    loop: manifest.environment
      ? "none (sampling in an environment: trajectories for Loop A or Loop B; nothing changes)"
      : "none (sampling: answers for Loop A or Loop B; nothing is scored, nothing changes)",
    evidence: [
      ...manifest.inputs.map(input),
      policyLine(manifest.policy),
      prompts(manifest),
      ...settings("prompt", manifest.prompt),
      sampling(manifest.sampling),
      ...environmentLines(manifest),
      manifest.environment
        ? `episodes of each task: ${manifest.n}`
        : `answers for each example: ${manifest.n}`,
    ],
    happened: `${episodesText(summary.episodes)}${summary.n_answers} answers to ${summary.n_examples} examples, ${summary.n_empty} empty, ${summary.n_refused} refused; ended by ${finish.join(", ") || "nothing"}; ${read} tokens read, ${written} written`,
    examples: examples.map(
      ({ id, completion, finish: reason }) =>
        `${code(id)} → ${code(reason)}: saw ${code(completion)}`,
    ),
  };
}

function environmentLines({ environment, split }: RolloutManifest): string[] {
  if (!environment) return [];
  const { name, version, source_sha256: source } = environment;
  return [`environment \`${name}\` ${version}, split ${split}, source sha256 \`${source}\``];
}

function episodesText(episodes: RolloutSummary["episodes"]): string {
  if (!episodes) return "";
  const { n, n_failed: failed, pass_rate: rate, reward_mean: reward } = episodes;
  const codes = Object.entries(episodes.codes).map(([name, count]) => `${name} ${count}`);
  const known = (value: number | null) => value?.toFixed(4) ?? "unknown";
  return `${n} episodes and ${failed} that failed, pass rate ${known(rate)}, mean reward ${known(reward)}, codes: ${codes.join(", ")}; in them `;
}

export function pairsFacts(
  manifest: PairsManifest,
  summary: Pick<PairsSummary, "n_prompts" | "n_pairs" | "n_labels" | "n_good" | "n_without_pair">,
  examples: readonly PairRow[],
): NoteFacts {
  return {
    loop: "none (preference data for Loop C; nothing is learned yet)",
    evidence: [
      ...manifest.inputs.map(input),
      scorer(manifest.scorer),
      prompts(manifest),
      sampling(manifest.sampling),
      ...settings("pairing", manifest.settings),
    ],
    happened: `${summary.n_pairs} pairs from ${summary.n_prompts} prompts, ${summary.n_without_pair} prompts without one; ${summary.n_labels} labels, ${summary.n_good} of them good`,
    examples: examples.map(
      ({ id, chosen, rejected, chosen_reward: better, rejected_reward: worse }) =>
        `${code(id)}: chosen ${code(chosen)} (${better}), rejected ${code(rejected)} (${worse})`,
    ),
  };
}

export function judgeAuditFacts(
  { inputs, data, judge, settings: chosen }: JudgeAuditManifest,
  audit: JudgeAudit,
): NoteFacts {
  const { accuracy } = audit.measures;
  return {
    loop: "none (an audit of a judge; nothing is learned and no policy is measured)",
    evidence: [
      ...inputs.map(input),
      `labelled data ${code(data.source)}, ${data.pairs} pairs, ${data.groups} groups\n    sha256 \`${data.sha256}\``,
      `judge ${code(judge.name)} at ${code(judge.endpoint)}\n    fingerprint \`${judge.fingerprint}\``,
      `rubric sha256 \`${judge.rubric_sha256}\``,
      sampling(judge.sampling),
      ...settings("settings", chosen),
    ],
    happened: `${TRUSTED_WORDS[audit.trusted].toLowerCase()}: ${trustedSentence(audit)} Agreement with labels ${accuracy.value?.toFixed(4) ?? "not measured"} on ${accuracy.n} pairs`,
    examples: audit.findings
      .filter(({ verdict }) => verdict === "convicted")
      .flatMap(({ fault, examples }) =>
        examples.map(({ id }) => `${code(id)} → ${FAULT_WORDS[fault].name}`),
      )
      .slice(0, 2),
  };
}

export function reviewFacts(
  manifest: ReviewManifest,
  summary: ReviewSummary,
  examples: readonly ReviewLabel[],
): NoteFacts {
  const { wins, losses, ties, n_labelled: labelled, n_skipped: skipped, win_rate: rate } = summary;
  return {
    loop: "none (labels by a person; nothing changes)",
    evidence: [
      ...manifest.inputs.map(input),
      `pairs sha256 \`${manifest.pairs.sha256}\``,
      ...settings("order", manifest.settings),
    ],
    happened: `${labelled} pairs labelled, ${skipped} skipped: ${wins} wins of the candidate, ${losses} losses, ${ties} ties, win rate ${rate?.toFixed(4) ?? "undefined"}`,
    examples: examples.map(
      ({ id, a, b, better }) =>
        `${code(id)}: ${better === undefined ? "skipped" : `better: ${better}`}, a ${code(a)}, b ${code(b)}`,
    ),
  };
}

export function trainFacts(
  manifest: TrainManifest,
  end: Pick<TrainSummary, "steps" | "first_loss" | "last_loss" | "stop" | "alarms" | "holdout">,
  examples: readonly SampleRecord[],
  /** The settings that the run would have had by default. */
  usual: JsonObject,
): NoteFacts {
  const { stop, holdout } = end;
  return {
    loop: `C (${LOOPS.C})`,
    evidence: [
      ...manifest.inputs.map(input),
      ...manifest.scorers.map(({ role, identity }) => `${role} ${instrument(identity)}`),
      initialPolicy(manifest),
      `algorithm \`${manifest.algorithm}\``,
      ...settingLines(differing(manifest.settings, usual)),
      "all other settings: the defaults, which `manifest.json` lists",
    ],
    happened: `${end.steps} steps, loss ${figure(end.first_loss)} → ${figure(end.last_loss)}; ended: ${stop.reason}, policy of step ${stop.kept} kept; ${end.alarms} alarms; holdout pass rate ${holdout.pass_rate === null ? "not measured" : holdout.pass_rate.toFixed(4)}`,
    examples:
      examples.length === 0
        ? ["none: no sample was kept; with `--dev` every validation keeps some"]
        : examples.map(
            ({ id, step, code: outcome, completion }) =>
              `${code(id)} after step ${step} → ${code(outcome)}: saw ${code(completion)}`,
          ),
  };
}

export function sweepFacts({ over, algorithm, points }: Sweep, manifest: TrainManifest): NoteFacts {
  const measured = points.map(
    ({ value, reward_mean: reward, kl_exact: kl }) =>
      `${String(value)}: reward ${reward.toFixed(4)}${kl === null ? "" : `, KL ${kl.toFixed(4)}`}`,
  );
  return {
    loop: `C (${LOOPS.C})`,
    evidence: [
      ...manifest.inputs.map(input),
      ...manifest.scorers.map(({ role, identity }) => `${role} ${instrument(identity)}`),
      initialPolicy(manifest),
      `algorithm \`${algorithm}\`; only \`${over}\` differs between the runs`,
      "settings: in the note of each run",
    ],
    happened: `${points.length} runs over \`${over}\`, validation of each: ${measured.join("; ")}`,
    examples: points
      .filter((_, i) => i === 0 || i === points.length - 1)
      .map(
        ({ value, run }) =>
          `\`${over}\` = ${code(String(value))}: see the note in ${code(`${folderName(run)}/`)}`,
      ),
  };
}

const initialPolicy = ({ init_fingerprint: init }: TrainManifest) =>
  `initial policy: ${init === null ? "from scratch" : `\`${init}\``}`;

/** The folder of a run, which lies beside the note. */
const folderName = (run: string) => run.split(/[\\/]/).findLast((part) => part !== "") ?? run;

/** What a policy is called and its fingerprint; how it was trained is in the manifest. */
function policyLine(policy: object): string {
  const stated = Object.entries(policy).filter(
    ([key, value]) =>
      key !== "fingerprint" && (typeof value === "string" || typeof value === "number"),
  );
  const { fingerprint } = policy as { fingerprint?: unknown };
  return [
    `policy: ${stated.map(([key, value]) => `${key} ${code(String(value))}`).join(", ") || "unknown"}`,
    ...(typeof fingerprint === "string" ? [`fingerprint \`${fingerprint}\``] : []),
  ].join(", ");
}

/** What is set otherwise than usual, in the same groups. */
function differing(settings: JsonObject, usual: JsonObject): JsonObject {
  const kept = Object.entries(settings).flatMap(([key, value]): [string, Json | undefined][] => {
    const other = usual[key];
    if (canonicalJson(value ?? null) === canonicalJson(other ?? null)) return [];
    if (!isGroup(value) || !isGroup(other)) return [[key, value]];
    return [[key, differing(value, other)]];
  });
  return Object.fromEntries(kept);
}

const isGroup = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A line for each group of settings; what is null is switched off. */
function settingLines(settings: JsonObject): string[] {
  const list = (pairs: readonly (readonly [string, Json | undefined])[]) =>
    pairs
      .map(
        ([key, value]) =>
          `${key} ${code(typeof value === "string" ? value : canonicalJson(value ?? null))}`,
      )
      .join(", ");
  const entries = Object.entries(settings);
  const single = list(entries.filter(([, value]) => !isGroup(value)));
  return [
    ...(single === "" ? [] : [`settings: ${single}`]),
    ...entries.flatMap(([name, value]) =>
      isGroup(value) ? [`${name}: ${list(Object.entries(value))}`] : [],
    ),
  ];
}

const input = ({ role, path, sha256 }: Manifest["inputs"][number]) =>
  `${role} \`${path}\`\n    sha256 \`${sha256}\``;

const scorer = ({ name, version, source_sha256: source }: JsonObject | Manifest["scorer"]) =>
  `scorer \`${name}\` ${version}, source sha256 \`${source}\``;

/** Of a training run: a scorer, or the judge that rewards. */
const instrument = (identity: JsonObject) =>
  identity.kind === "judge"
    ? `judge \`${identity.name}\` at ${identity.endpoint}, rubric sha256 \`${identity.rubric_sha256}\`, fingerprint \`${identity.fingerprint}\``
    : scorer(identity);

const prompts = ({ examples }: Pick<Manifest, "examples">) =>
  `prompts sha256 \`${examples.prompts_sha256}\``;

const sampling = (stated: object | null) =>
  `sampling: ${stated ? `\`${canonicalJson(stated)}\`` : "unknown: no provenance file"}`;

const figure = (value: number) => (Number.isFinite(value) ? value.toFixed(4) : String(value));

function settings(name: string, value: object | null): string[] {
  return value === null ? [] : [`${name}: \`${canonicalJson(value).replaceAll("`", "'")}\``];
}
