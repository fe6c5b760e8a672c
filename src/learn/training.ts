/** A training run in progress: its engine, source, watch and folder, and how it ends. */

import path from "node:path";
import type { ZodType } from "zod";
import type { Environment } from "../core/environment.ts";
import { dataError, usageError } from "../core/errors.ts";
import type { SeenPrompts } from "../core/policy.ts";
import type { Engine, EngineIdentity, UpdateResult } from "../engine/engine.ts";
import { ENVIRONMENTS, type EnvironmentParts } from "../environments/index.ts";
import { checkpointFolder } from "../policy/pi0.ts";
import { nothingSeen } from "../policy/seen-prompts.ts";
import { KEPT } from "../runs/artifacts.ts";
import { observeOccasion } from "../runs/manifest.ts";
import { readLines } from "../runs/read-training-run.ts";
import { TrainFolder } from "../runs/train-folder.ts";
import {
  type Alarm,
  alarmSchema,
  evaluationRecordSchema,
  type StepRecord,
  stepRecordSchema,
  type TimingRecord,
} from "../runs/train-records.ts";
import type { TrainManifest, TrainSummary } from "../runs/train-schemas.ts";
import type { SavedState, Stream } from "../runs/train-state.ts";
import { removeAll } from "../runs/whole-file.ts";
import type { Algorithm } from "./algorithm.ts";
import { type Described, holdoutsBefore, manifestOf, trainedBlock } from "./describe-run.ts";
import { ENGINES, type OpenEngine } from "./engines.ts";
import type { ScratchPolicy } from "./from-scratch.ts";
import type { TrainedPolicy, TrainOptions } from "./options.ts";
import {
  refuseLearnedFrom,
  refuseLearnedPrompts,
  refuseUnreadable,
  requireScorers,
} from "./refusals.ts";
import { sabotageOf } from "./sabotage.ts";
import { type TrainSettings, usualRate } from "./settings.ts";
import type { BatchSeconds, Source, TrainingData } from "./source.ts";
import {
  checkCompletions,
  type Examples,
  longestPrompt,
  promptsOf,
  readExamples,
} from "./sources/examples.ts";
import { HeldOutPrompts } from "./sources/held-out.ts";
import { isSampled, readTrainingData } from "./sources/index.ts";
import { lossCallOf, type UpdatePlan } from "./update.ts";
import { type Evaluation, type ValidationEnvironments, validate } from "./validate.ts";
import { Watch } from "./watch.ts";

/** Where the adapters of each checkpoint lie. */
const ADAPTERS = { checkpoint: "adapter", best: "best-adapter" } as const;

interface HeldOut {
  readonly dev: Examples | undefined;
  readonly holdout: Examples | undefined;
}

/** What was read and checked before the folder is touched. */
interface Prepared extends Described, HeldOut {
  readonly engine: Engine;
  readonly environment: Environment;
  readonly data: TrainingData;
  readonly manifest: () => Promise<TrainManifest>;
  /** What was made of the texts; told once nothing is refused any more. */
  readonly scratch: ScratchPolicy | undefined;
}

interface Parts extends Prepared {
  readonly source: Source;
  readonly plan: UpdatePlan;
  readonly folder: TrainFolder;
  /** Of the reference, before the first step. */
  readonly referenceHash: string;
}

/** Seconds of a step by phase, and how much of the computed positions of its updates was used. */
interface StepCost extends BatchSeconds, Pick<UpdateResult, "usedShare"> {
  readonly updating: number;
}

export class Training {
  step = 0;
  readonly settings: TrainSettings;
  readonly engine: Engine;
  readonly source: Source;
  readonly plan: UpdatePlan;
  readonly watch: Watch;
  readonly #parts: Parts;
  #evaluatingSeconds = 0;
  /** Evaluations on the holdout set. */
  #tested = 0;
  /** Hash of the weights in best/. */
  #best: string | null = null;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.settings = parts.settings;
    this.engine = parts.engine;
    this.source = parts.source;
    this.plan = parts.plan;
    this.watch = new Watch(parts.algorithm, parts.settings, parts.options.init === "scratch");
  }

  static async open(
    options: TrainOptions,
    algorithm: Algorithm,
    settings: TrainSettings,
  ): Promise<Training> {
    const occasion = observeOccasion();
    requireScorers(options, settings, algorithm);
    const { rewards = [], cost } = options;
    const { weights } = settings;
    const environment = environmentOf(options, { scorers: rewards, weights, cost });
    let scratch: ScratchPolicy | undefined;
    const onScratch = (policy: ScratchPolicy) => {
      scratch = policy;
    };
    const engine = await engineOf({ ...options, onScratch }, algorithm, settings);
    try {
      const held = await readHeldOut(options);
      const sets = [held.dev, held.holdout].filter((set) => set !== undefined);
      refuseLearnedFrom(engine.identity, sets);
      const data = await readTrainingData({
        ...{ dataset: options.dataset, outdir: options.outdir, onProgress: options.onProgress },
        ...{ algorithm, settings, encoder: engine.encoder, heldOut: new HeldOutPrompts(sets) },
      });
      await refuseUnreadable([...rewards, cost], [data.examples]);
      await refuseUnreadable([options.validation ?? rewards[0]], sets);
      if (algorithm.needs === "texts") {
        for (const set of sets) checkCompletions(set, engine.encoder);
      }
      const length = lengthOf(data, engine, sets, settings);
      const seen = seenWith(engine.identity, data, held.dev);
      refuseLearnedPrompts(seen, sets);
      const described: Described = {
        ...{ options, algorithm, settings, length, seen, start: engine.identity },
        inputs: [...data.inputs, ...sets.map(({ input }) => input)],
        environmentIdentity: isSampled(algorithm.needs) ? environment.identity : null,
      };
      const manifest = async () => manifestOf(described, await occasion());
      const parts = { ...described, ...held, engine, environment, data, manifest, scratch };
      return await Training.#begin(parts);
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** Claims the folder, and continues from a saved state if the run is resumed. */
  static async #begin(parts: Prepared): Promise<Training> {
    const { options, algorithm, settings, engine, environment, data } = parts;
    const folder = await TrainFolder.open(options.outdir, await parts.manifest(), {
      ...options,
      inputs: [
        ...parts.inputs.map((input) => input.path),
        ...(options.init === "scratch" ? [] : [checkpointFolder(options.init)]),
      ],
    });
    try {
      if (parts.scratch) options.onScratch?.(parts.scratch);
      const { resumed } = folder;
      const referenceHash = await engine.hashOf("reference");
      if (resumed) await folder.readState((dir) => engine.loadState(dir));
      else await removeEarlier(options.outdir);
      const { rollouts, source: wrap } = sabotageOf(settings.sabotage);
      const saved = resumed?.source;
      const source = data.open({
        ...{ engine: rollouts?.(engine) ?? engine, environment, saved },
      });
      const loss = lossCallOf(engine.can, algorithm, settings, data.maxTokens);
      const run = new Training({
        ...{ ...parts, folder, referenceHash, source: wrap?.(source) ?? source },
        plan: { loss, algorithm, settings },
      });
      if (resumed) await run.#restore(resumed);
      return run;
    } catch (error) {
      await folder.leave();
      throw error;
    }
  }

  async #restore({ step, best }: SavedState): Promise<void> {
    const { dir } = this.#parts.folder;
    const read = <T>(stream: Stream, schema: ZodType<T>) =>
      readLines(path.join(dir, `${stream}.jsonl`), schema).then(({ rows }) => rows);
    this.step = step;
    this.#best = best;
    this.watch.restore({
      steps: await read("metrics", stepRecordSchema),
      evaluations: await read("evaluations", evaluationRecordSchema),
      alarms: await read("alarms", alarmSchema),
    });
  }

  /** Records a step. */
  async record(record: StepRecord, spent: StepCost): Promise<StepRecord> {
    this.step = record.step;
    this.watch.steps.push(record);
    await this.#parts.folder.add("metrics", record);
    await this.#time(spent);
    return record;
  }

  async #time({ usedShare, ...seconds }: StepCost): Promise<void> {
    await this.#parts.folder.add("timing", {
      step: this.step,
      sampling_s: seconds.sampling,
      scoring_s: seconds.scoring,
      logprobs_s: seconds.logprobs,
      updating_s: seconds.updating,
      evaluating_s: this.#evaluatingSeconds,
      ...(usedShare !== undefined && { used_share: usedShare }),
    } satisfies TimingRecord);
    this.#evaluatingSeconds = 0;
  }

  /** Measures the policy on the validation set, where there is one, and keeps it if it is the best. */
  async validate(): Promise<void> {
    const { dev, folder, options, settings } = this.#parts;
    if (settings.evaluate.every === 0) return;
    const found = await this.#measure(dev);
    if (!found) return;
    const started = performance.now();
    this.watch.evaluations.push(found.record);
    await folder.add("evaluations", found.record);
    for (const sample of found.samples) await folder.add("samples", sample);
    options.onValidation?.(found.record, found.samples);
    if (this.watch.best?.step === this.step) {
      await this.#export("best");
      this.#best = await this.engine.hashOf("policy");
    }
    this.#evaluatingSeconds += (performance.now() - started) / 1000;
  }

  async #measure(set: Examples | undefined): Promise<Evaluation | undefined> {
    const environments = validationOf(this.#parts.options, this.settings);
    if (!set || !environments) return undefined;
    const started = performance.now();
    const { algorithm } = this.#parts;
    const found = await validate(
      ...([this.engine, algorithm, set, environments, this.settings, this.step] as const),
    );
    this.#evaluatingSeconds += (performance.now() - started) / 1000;
    return found;
  }

  async raise(alarm: Alarm): Promise<void> {
    await this.#parts.folder.add("alarms", alarm);
    const stops = alarm.stops && this.settings.alarms_stop;
    this.#parts.options.onAlarm?.({ ...alarm, stops });
  }

  /** Saves what is needed to resume, when it is time to. */
  async save(): Promise<void> {
    const { options, folder } = this.#parts;
    if (this.step % options.saveEvery !== 0 || this.step === this.settings.steps) return;
    const state = { step: this.step, source: this.source.state(), best: this.#best };
    await folder.saveState(state, (dir) => this.engine.saveState(dir));
    await this.#export("checkpoint");
  }

  /** The kept policy, the holdout set if one was named, the summary. */
  async finish(stopped: Alarm | undefined): Promise<TrainedPolicy> {
    const { options, folder, manifest } = this.#parts;
    const frozen = this.watch.usesReference ? await this.#referenceFrozen() : null;
    const kept = (stopped && this.watch.best?.step) ?? this.step;
    if (kept !== this.step) await this.#restoreBest();
    const holdout = await this.#test();
    const fingerprint = await this.#export("checkpoint", kept);
    // The last evaluations came after the last step was recorded.
    await this.#time({ sampling: 0, scoring: 0, logprobs: 0, updating: 0 });
    const { steps, raised } = this.watch;
    const summary = await folder.finish(await manifest(), {
      steps: this.step,
      tokens: steps.reduce((sum, { tokens }) => sum + Number(tokens), 0),
      first_loss: Number(steps[0]?.loss),
      last_loss: Number(steps.at(-1)?.loss),
      stop: { reason: stopped?.alarm ?? "all steps done", step: this.step, kept },
      alarms: raised.size,
      reference_frozen: frozen,
      holdout,
      checkpoint_fingerprint: fingerprint,
    });
    await this.engine.close();
    return { dir: options.outdir, checkpoint: path.join(options.outdir, "checkpoint"), summary };
  }

  /** Whether the reference is what it was before the first step. */
  async #referenceFrozen(): Promise<boolean> {
    return (await this.engine.hashOf("reference")) === this.#parts.referenceHash;
  }

  /** The final evaluation, the only one on the holdout set. */
  async #test(): Promise<TrainSummary["holdout"]> {
    const { holdout, start } = this.#parts;
    const before = holdoutsBefore(start);
    const found = await this.#measure(holdout);
    if (!found) return { evaluations: 0, before, pass_rate: null };
    this.#tested++;
    return { evaluations: 1, before, pass_rate: found.record.pass_rate };
  }

  async #export(name: "checkpoint" | "best", step = this.step): Promise<string> {
    const tested = holdoutsBefore(this.#parts.start) + this.#tested;
    const { fingerprint } = await this.engine.exportCheckpoint(this.#path(name), {
      trained: trainedBlock(this.#parts, step, tested),
      seen: this.#parts.seen,
      adapterDir: this.#adapterDir(name),
    });
    return fingerprint;
  }

  async #restoreBest(): Promise<void> {
    const best = this.#path("best");
    await this.engine.loadCheckpoint(best, { adapterDir: this.#adapterDir("best") });
    if ((await this.engine.hashOf("policy")) === this.#best) return;
    throw dataError(
      `${best} is not the policy that this run kept there`,
      "It was damaged, edited or exchanged. Start over with --force.",
    );
  }

  /** Weights drawn at random lie nowhere, so that there is nothing to put an adapter on. */
  #adapterDir(name: keyof typeof ADAPTERS): string | undefined {
    const { options, settings } = this.#parts;
    return settings.lora && options.init !== "scratch" ? this.#path(ADAPTERS[name]) : undefined;
  }

  #path(name: string): string {
    return path.join(this.#parts.options.outdir, name);
  }

  explosion(step: number, loss: number): Error {
    const { algorithm, options, settings } = this.#parts;
    const { outdir, saveEvery } = options;
    const good = Math.floor((step - 1) / saveEvery) * saveEvery;
    const { peak } = settings.rate;
    const usual = usualRate(algorithm);
    const lower =
      peak > usual
        ? `The learning rate of ${peak} is too high: the default of ${algorithm.name} is ${usual}. Start again with --lr ${usual}.`
        : "Lower the learning rate and start again.";
    return dataError(
      `the loss became ${Number.isFinite(loss) ? loss.toPrecision(3) : "NaN or infinite"} at step ${step}`,
      good > 0
        ? `The last good checkpoint is that of step ${good}, in ${path.join(outdir, "checkpoint")}. ${lower}`
        : `No checkpoint was saved before. ${lower}`,
    );
  }

  /** Lets go of everything; what is there can be resumed. */
  async leave(): Promise<void> {
    await this.#parts.folder.leave();
    await this.engine.close();
  }
}

async function readHeldOut({ dev, holdout }: TrainOptions): Promise<HeldOut> {
  return {
    dev: dev === undefined ? undefined : await readExamples(dev, "dev"),
    holdout: holdout === undefined ? undefined : await readExamples(holdout, "holdout"),
  };
}

/** What the policy will have seen; an initial policy of unknown past counts as one without. */
function seenWith(
  { seen }: EngineIdentity,
  { prompts }: TrainingData,
  dev: Examples | undefined,
): SeenPrompts {
  const { learned, validated } = seen ?? nothingSeen();
  return {
    learned: learned.joinedWith(prompts),
    validated: dev ? validated.joinedWith(promptsOf(dev)) : validated,
  };
}

/** The environment with these scorers; one that is given as an object has its own rewards. */
function environmentOf(
  { environment = "single_turn" }: TrainOptions,
  parts: EnvironmentParts,
): Environment {
  if (typeof environment !== "string") return environment;
  return named("environment", ENVIRONMENTS, environment)(parts);
}

/** What held-out examples are played in; undefined where nothing can score them. */
function validationOf(
  options: TrainOptions,
  { weights }: TrainSettings,
): ValidationEnvironments | undefined {
  const { rewards = [], validation = rewards[0], environment } = options;
  const own = typeof environment === "object" ? environment : undefined;
  if (own) return { validation: own, proxy: undefined };
  if (!validation) return undefined;
  const same = rewards.length === 0 || (rewards.length === 1 && rewards[0] === validation);
  return {
    validation: environmentOf(options, { scorers: [validation] }),
    proxy: same ? undefined : environmentOf(options, { scorers: rewards, weights }),
  };
}

/** What an earlier run in the folder had saved: a run that starts again must not use it. */
async function removeEarlier(outdir: string): Promise<void> {
  await removeAll(outdir, [
    ...["state", ".state.previous", "best", ".best.previous", "best-adapter", "adapter"],
    ...["checkpoint", ".checkpoint.previous", KEPT],
  ]);
}

/** Tokens of a row, prompt and completion: the longest that can come up, in steps of eight. */
function lengthOf(
  data: TrainingData,
  { encoder }: Engine,
  sets: readonly Examples[],
  { evaluate: { max_tokens: most } }: TrainSettings,
): number {
  const prompts = sets.map((set) => longestPrompt(set, encoder) + most);
  const longest = Math.max(data.longest, ...prompts);
  return Math.min(encoder.maxLength, Math.ceil(longest / 8) * 8);
}

/** The engine that everything uses, sabotaged where that is set. */
async function engineOf(
  options: TrainOptions,
  algorithm: Algorithm,
  settings: TrainSettings,
): Promise<Engine> {
  const open = named<OpenEngine>("engine", ENGINES, options.engine ?? "local");
  const engine = await open({ options, algorithm, settings });
  return sabotageOf(settings.sabotage).engine?.(engine) ?? engine;
}

function named<T>(what: string, table: Readonly<Record<string, T>>, name: string): T {
  if (Object.hasOwn(table, name)) return table[name] as T;
  const names = Object.keys(table).join(", ");
  throw usageError(`there is no ${what} "${name}"`, `Choose one of ${names}.`);
}
