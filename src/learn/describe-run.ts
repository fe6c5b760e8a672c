/** What a training run says of itself: in its manifest, and in the checkpoints that it writes. */

import type { JsonObject } from "../core/json.ts";
import { DROPPED_LIMIT, type GroupJudge } from "../core/judge.ts";
import type { SeenPrompts } from "../core/policy.ts";
import type { EngineIdentity } from "../engine/engine.ts";
import { seenStatement } from "../policy/seen-prompts.ts";
import { TRAIN_SCHEMA } from "../runs/artifacts.ts";
import type { TrainManifest } from "../runs/train-schemas.ts";
import type { Algorithm } from "./algorithm.ts";
import type { TrainOptions } from "./options.ts";
import type { TrainSettings } from "./settings.ts";
import type { InputRecord } from "./sources/examples.ts";

export interface Described {
  readonly options: TrainOptions;
  readonly algorithm: Algorithm;
  readonly settings: TrainSettings;
  readonly start: EngineIdentity;
  /** The environment's identity; null where nothing is sampled. */
  readonly environmentIdentity: JsonObject | null;
  readonly inputs: readonly InputRecord[];
  /** Tokens of a row. */
  readonly length: number;
  /** What the trained policy has seen, with what its initial policy had, as far as that is known. */
  readonly seen: SeenPrompts;
}

export function manifestOf(
  { options, algorithm, settings, start, environmentIdentity, inputs, length }: Described,
  volatile: TrainManifest["volatile"],
): TrainManifest {
  const roles = [
    ...(options.rewards ?? []).map((scoring) => ({ role: "reward" as const, scoring })),
    ...(options.validation ? [{ role: "validation" as const, scoring: options.validation }] : []),
    ...(options.cost ? [{ role: "cost" as const, scoring: options.cost }] : []),
  ];
  const { judge, validationEnvironment: labelled } = options;
  return {
    schema: TRAIN_SCHEMA,
    loop: "C",
    command: "train",
    algorithm: algorithm.name,
    inputs: [...inputs],
    init_fingerprint: options.init === "scratch" ? null : start.fingerprint,
    architecture: start.architecture as TrainManifest["architecture"],
    engine: start.kind,
    environment: environmentIdentity as TrainManifest["environment"],
    ...(labelled && { validation_environment: labelled.environment.identity as Identity }),
    settings: { ...recordedSettings(settings), length, ...givenShape(options) },
    scorers: [
      ...(judge ? [{ role: "reward" as const, identity: judgeIdentity(judge) }] : []),
      ...roles.map(({ role, scoring }) => ({ role, identity: { ...scoring.identity } })),
    ],
    ...(judge && {
      judge: {
        dropped_limit: options.judgeDroppedLimit ?? DROPPED_LIMIT,
        price: options.judgePrice ? { ...options.judgePrice } : null,
      },
    }),
    // Where the initial policy lay, for whoever wants to train again.
    volatile: {
      ...volatile,
      ...(options.init !== "scratch" && { checkpoint: options.init }),
      ...(judge && { judge: { ...judge.traffic } }),
      ...(settings.stop.seconds !== null && { time_budget_s: settings.stop.seconds }),
    },
  };
}

type Identity = NonNullable<TrainManifest["environment"]>;

/** With its fingerprint also where readers of scorers look for the hash of their code. */
function judgeIdentity({ identity }: GroupJudge): Identity {
  return { ...identity, source_sha256: identity.fingerprint } as unknown as Identity;
}

/** What was set of a policy from scratch rather than derived; a resumed run must have the same. */
function givenShape({ init, alphabet, context }: TrainOptions): JsonObject {
  if (init !== "scratch" || (alphabet === undefined && context === undefined)) return {};
  return { scratch: { alphabet: alphabet ?? null, context: context ?? null } };
}

/** In the checkpoint: how it was trained, so that a comparison of policies shows what differs. */
export function trainedBlock(
  { options, algorithm, settings, start, inputs, seen }: Described,
  step: number,
  holdoutEvaluations: number,
): JsonObject {
  return {
    algorithm: algorithm.name,
    step,
    settings: recordedSettings(settings),
    inputs: inputs.map(({ role, sha256, rows }) => ({ role, sha256, rows })),
    scorers: [
      ...(options.judge ? [judgeIdentity(options.judge)] : []),
      ...(options.rewards ?? []).map(({ identity }) => identity),
      ...(options.cost ? [options.cost.identity] : []),
    ].map(({ name, version, source_sha256 }) => ({ name, version, source_sha256 }) as JsonObject),
    from: options.init === "scratch" ? "scratch" : start.fingerprint,
    learned_from: [...learnedFrom(start), ...inputs.filter(isLearned).map(({ sha256 }) => sha256)],
    prompts: seenStatement(seen, Boolean(start.seen)),
    holdout_evaluations: holdoutEvaluations,
  };
}

/** The files that a policy, or one that it began with, learned from. */
export function learnedFrom({ trained }: EngineIdentity): string[] {
  const list = trained?.learned_from;
  return Array.isArray(list) ? list.map(String) : [];
}

function isLearned({ role }: InputRecord): boolean {
  return role !== "dev" && role !== "holdout";
}

/** How often policies that led to this one were tested on a holdout set. */
export function holdoutsBefore({ trained }: EngineIdentity): number {
  return Number(trained?.holdout_evaluations ?? 0);
}

function recordedSettings(settings: TrainSettings): JsonObject {
  return JSON.parse(JSON.stringify(settings)) as JsonObject;
}
