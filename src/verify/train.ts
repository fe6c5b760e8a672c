/**
 * A training run made again from its recorded start, in a temporary folder: all steps, or the first of
 * them. Its streams are compared line by line; of a whole run, the weights too.
 */

import path from "node:path";
import type { PlayableEnvironment } from "../core/environment.ts";
import { sha256 } from "../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { GroupJudge, JudgeIdentity } from "../core/judge.ts";
import type { PromptSet } from "../core/prompt-set.ts";
import type { GuardedScorer } from "../core/score.ts";
import { ENVIRONMENTS } from "../environments/scored-prompts.ts";
import type { TrainOptions } from "../learn/options.ts";
import { train } from "../learn/train.ts";
import { loadCheckpoint } from "../policy/checkpoint.ts";
import { SIZES, type Size } from "../policy/initialise.ts";
import { BASELINE, STATES } from "../runs/artifacts.ts";
import { manifestFingerprint } from "../runs/manifest.ts";
import { readTrainingRun, type TrainingRunRecords } from "../runs/read-training-run.ts";
import { withTemporaryFolder } from "../runs/temporary-folder.ts";
import type { PartName, VerificationPart } from "../runs/verification.ts";
import { fileExists, readIfThere } from "../runs/whole-file.ts";
import { filesPart } from "./files.ts";
import { findFile, type Places, reached } from "./find-input.ts";
import { Comparison, impossible, type OnProgress, Unreachable } from "./part.ts";
import { openRecordedEnvironment, requireTasks } from "./recorded-environment.ts";
import type { OpenRecordedJudge } from "./recorded-judge.ts";
import { findCheckpoint } from "./recorded-policy.ts";
import { openRecordedScorer, type RecordedScorer } from "./recorded-scorer.ts";

export interface TrainAgainOptions extends Places {
  /** Absent: a run with a judge cannot be made again. */
  readonly openJudge?: OpenRecordedJudge | undefined;
  /** In place of the one that `openJudge` opens; whoever opened it closes it. */
  readonly judge?: GroupJudge | undefined;
  /** Only the first so many steps; absent: all. */
  readonly steps?: number | undefined;
  /** The checkpoint that the training began with, if it is not where it was. */
  readonly init?: string | undefined;
  readonly threads?: number | undefined;
  readonly onProgress?: OnProgress | undefined;
}

export async function verifyTraining(
  dir: string,
  asked: readonly PartName[],
  options: TrainAgainOptions,
): Promise<VerificationPart[]> {
  const run = await readTrainingRun(dir);
  const parts: VerificationPart[] = [];
  if (asked.includes("files")) parts.push(await ownFiles(run));
  if (asked.includes("train")) parts.push(await trainingPart(run, options));
  return parts;
}

/** The streams, the manifest and the checkpoint are those of the summary. */
async function ownFiles({ dir, manifest, summary, edited }: TrainingRunRecords) {
  const other = [...edited];
  if (manifestFingerprint(manifest) !== summary?.manifest_sha256) other.push("manifest.json");
  const checkpoint = await reached(() => loadCheckpoint(path.join(dir, "checkpoint")));
  const print = "value" in checkpoint ? checkpoint.value.fingerprint : undefined;
  if (print !== summary?.checkpoint_fingerprint) other.push("checkpoint");
  return filesPart(other, 6, "hashes of manifest and streams, and the weights of the checkpoint");
}

async function trainingPart(
  run: TrainingRunRecords,
  options: TrainAgainOptions,
): Promise<VerificationPart> {
  const total = run.summary?.steps ?? run.steps.length;
  const wanted = Math.min(options.steps ?? total, total);
  const opened: Opened[] = [];
  try {
    const done = await reached(async () => {
      const again = await optionsOf(run, options, opened);
      return withTemporaryFolder(async (folder) => {
        const outdir = path.join(folder, "run");
        const whole = wanted === total;
        const print = await trainAgain({ ...again, outdir }, whole ? undefined : wanted, (steps) =>
          options.onProgress?.("Training again", steps, wanted),
        );
        return compared(run, outdir, wanted, print);
      });
    });
    return "why" in done ? impossible("train", total, done.why) : done.value;
  } finally {
    for (const one of opened) await one.close();
  }
}

/** A scorer or an environment, which is closed at the end. */
type Opened = Pick<GuardedScorer, "close">;

/** The options that the manifest stands for. */
async function optionsOf(
  { dir, manifest, summary }: TrainingRunRecords,
  options: TrainAgainOptions,
  opened: Opened[],
): Promise<Omit<TrainOptions, "outdir">> {
  if (manifest.engine !== "local")
    throw new Unreachable(`The weights were held by ${manifest.engine}, which is not at hand.`);
  const [data, ...held] = manifest.inputs;
  const environment = await environmentOf(manifest.environment, options, opened);
  const labelled = await validationEnvironmentOf(manifest, options, opened);
  // Tasks of the environment have no file: it gives them again.
  const fileOf = async (input: (typeof held)[number] | undefined) => {
    if (!input?.split || typeof environment !== "object")
      return input && findFile(`${input.role} file`, input, options);
    const giving = input.role === "dev" ? (labelled ?? environment) : environment;
    await requireTasks(giving, { ...input, split: input.split });
    return undefined;
  };
  if (data === undefined) throw new Unreachable("The run does not name its training data.");
  const dataset = await fileOf(data);
  const scorers = await openScorers(manifest.scorers, options, opened);
  const { length: _, ...settings } = manifest.settings;
  const from = manifest.init_fingerprint;
  const recorded = manifest.volatile.checkpoint;
  const init =
    from === null
      ? undefined
      : await findCheckpoint("initial policy", "--init", from, {
          ...{ given: options.init, recorded, from: options.from },
        });
  return {
    ...{ algorithm: manifest.algorithm, dataset, settings, ...scorers },
    init: init?.dir ?? "scratch",
    size: sizeOf(manifest.architecture),
    dev: await fileOf(held.find(({ role }) => role === "dev")),
    holdout: await fileOf(held.find(({ role }) => role === "holdout")),
    ...{ environment, validationEnvironment: labelled },
    ...(await judgeOf(manifest, options, opened)),
    threads: options.threads ?? 1,
    saveEvery: await saveEveryOf(dir),
    timeIsUpAt: summary?.stop.reason === "seconds" ? summary.stop.step : null,
  };
}

type RecordedManifest = TrainingRunRecords["manifest"];

async function validationEnvironmentOf(
  { validation_environment: recorded }: RecordedManifest,
  places: Places,
  opened: Opened[],
): Promise<PlayableEnvironment | undefined> {
  if (recorded === undefined) return undefined;
  const environment = await openRecordedEnvironment(recorded, places);
  opened.push(environment);
  return environment;
}

/** The judge that rewarded, with what the run allowed it. */
async function judgeOf(
  { scorers, judge: recorded }: RecordedManifest,
  { openJudge, judge: given }: TrainAgainOptions,
  opened: Opened[],
): Promise<Pick<TrainOptions, "judge" | "judgeDroppedLimit" | "judgePrice">> {
  const identity = scorers.find(isJudge)?.identity as unknown as JudgeIdentity | undefined;
  if (!identity) return {};
  const { name, endpoint, fingerprint } = identity;
  const judge = given ?? (await openJudge?.(identity));
  if (!judge)
    throw new Unreachable(
      `The reward came from the judge ${name} at ${endpoint}: only \`lockedroom verify\` opens judges.`,
    );
  if (!given) opened.push(judge);
  if (judge.identity.fingerprint !== fingerprint)
    throw new Unreachable(
      `The judge of the run was ${name} at ${endpoint}, with the fingerprint ${fingerprint.slice(0, 12)}…; the one that is found now is at ${judge.identity.endpoint} and has ${judge.identity.fingerprint.slice(0, 12)}….`,
    );
  return {
    judge,
    judgeDroppedLimit: recorded?.dropped_limit,
    judgePrice: recorded?.price ?? undefined,
  };
}

function isJudge({ identity }: RecordedManifest["scorers"][number]): boolean {
  return identity.kind === "judge";
}

/** One of a name in `ENVIRONMENTS` has its scorers only; any other is opened with its tasks. */
async function environmentOf(
  recorded: TrainingRunRecords["manifest"]["environment"],
  places: Places,
  opened: Opened[],
): Promise<PlayableEnvironment | string | undefined> {
  if (recorded === null) return undefined;
  if (Object.hasOwn(ENVIRONMENTS, String(recorded.name))) return String(recorded.name);
  const environment = await openRecordedEnvironment(recorded, places);
  opened.push(environment);
  return environment;
}

async function openScorers(
  scorers: TrainingRunRecords["manifest"]["scorers"],
  places: Places,
  opened: Opened[],
): Promise<Pick<TrainOptions, "rewards" | "validation" | "cost">> {
  const byRole = { reward: [], validation: [], cost: [] } as Record<string, GuardedScorer[]>;
  for (const { role, identity } of scorers.filter((one) => !isJudge(one))) {
    const recorded = identity as unknown as RecordedScorer;
    const scorer = await openRecordedScorer(recorded, places, undefined);
    opened.push(scorer);
    byRole[role]?.push(scorer);
  }
  return {
    rewards: byRole.reward,
    validation: byRole.validation?.[0],
    cost: byRole.cost?.[0],
  };
}

/** Of a policy from scratch; of another it does not matter. */
function sizeOf({ vocabulary: _, ...architecture }: JsonObject): Size {
  const names = Object.keys(SIZES) as Size[];
  return names.find((name) => canonicalJson(SIZES[name]) === canonicalJson(architecture)) ?? "nano";
}

/** As often as the run did, so that its chain of saved states can be compared. */
async function saveEveryOf(dir: string): Promise<number> {
  const [first] = await linesOf(path.join(dir, STATES));
  const step = first === undefined ? 0 : Number((JSON.parse(first) as JsonObject).step);
  return step >= 1 ? step : Number.MAX_SAFE_INTEGER;
}

class Enough extends Error {}

/** The fingerprint of the trained checkpoint; undefined when it stopped before the end. */
async function trainAgain(
  options: TrainOptions,
  stopAfter: number | undefined,
  onStep: (done: number) => void,
): Promise<string | undefined> {
  try {
    const { summary } = await train({
      ...options,
      onStep: (done) => {
        onStep(done);
        if (done === stopAfter) throw new Enough();
      },
    });
    return summary.checkpoint_fingerprint;
  } catch (error) {
    if (error instanceof Enough) return undefined;
    throw error;
  }
}

/** Each grows by lines that have a step; seconds are in none of them. baseline.jsonl is of step 0. */
const COMPARED = ["metrics", "evaluations", "samples", "alarms", "states"] as const;

async function compared(
  { dir, summary }: TrainingRunRecords,
  again: string,
  steps: number,
  print: string | undefined,
): Promise<VerificationPart> {
  const total = summary?.steps ?? steps;
  const comparison = new Comparison();
  for (const name of [...COMPARED.map((stream) => `${stream}.jsonl`), BASELINE]) {
    if (!fileExists(path.join(dir, name)) && !fileExists(path.join(again, name))) continue;
    const upTo = (lines: readonly string[]) =>
      lines.filter((line) => Number((JSON.parse(line) as JsonObject).step ?? 0) <= steps);
    const expected = upTo(await linesOf(path.join(again, name)));
    const found = upTo(await linesOf(path.join(dir, name)));
    compareLines(comparison, name, expected, found);
  }
  comparison.repeated = steps;
  if (print !== undefined && print !== summary?.checkpoint_fingerprint)
    comparison.differs("checkpoint", "fingerprint", print, summary?.checkpoint_fingerprint);
  else if (print !== undefined) await compareHistory(comparison, dir, again);
  const what = print === undefined ? "" : ", the weights and their history";
  return comparison.part("train", total, `lines of ${COMPARED.join(", ")} by step${what}`);
}

/** What the checkpoint says of its past is no part of its fingerprint. */
async function compareHistory(comparison: Comparison, dir: string, again: string): Promise<void> {
  const [expected, found] = [await pastOf(again), await pastOf(dir)];
  for (const what of ["trained", "learned", "validated"] as const) {
    if (canonicalJson(expected[what]) !== canonicalJson(found[what]))
      comparison.differs("checkpoint", what, expected[what], found[what]);
  }
}

async function pastOf(dir: string) {
  const { trained, seen } = await loadCheckpoint(path.join(dir, "checkpoint"));
  const hashOf = (set: PromptSet | undefined) => (set ? sha256(set.toBytes()) : null);
  return { trained, learned: hashOf(seen?.learned), validated: hashOf(seen?.validated) };
}

function compareLines(
  comparison: Comparison,
  name: string,
  expected: readonly string[],
  found: readonly string[],
): void {
  for (let i = 0; i < Math.max(expected.length, found.length); i++) {
    const [is, was] = [expected[i], found[i]];
    if (is === was) continue;
    const step = (JSON.parse(is ?? was ?? "{}") as JsonObject).step;
    comparison.compare(`${name} step ${step}`, fieldsOf(is), fieldsOf(was));
  }
}

function fieldsOf(line: string | undefined): JsonObject {
  return line === undefined ? {} : (JSON.parse(line) as JsonObject);
}

async function linesOf(file: string): Promise<string[]> {
  const text = (await readIfThere(file)) ?? "";
  return text.split("\n").filter((line) => line !== "");
}
