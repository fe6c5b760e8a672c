/** A training run in progress: its engine, source, watch and folder, and how it ends. */

import path from "node:path";
import type { ZodType } from "zod";
import type { Engine, UpdateResult } from "../engine/engine.ts";
import { checkpointFolder } from "../policy/pi0.ts";
import { BASELINE, KEPT } from "../runs/artifacts.ts";
import { readLines } from "../runs/read-training-run.ts";
import { ALL_STEPS_DONE } from "../runs/stop-reasons.ts";
import { TrainFolder } from "../runs/train-folder.ts";
import {
  type Alarm,
  alarmSchema,
  evaluationRecordSchema,
  type StepRecord,
  stepRecordSchema,
  type TimingRecord,
  timingRecordSchema,
} from "../runs/train-records.ts";
import type { TrainSummary } from "../runs/train-schemas.ts";
import type { SavedState, Stream } from "../runs/train-state.ts";
import { removeAll } from "../runs/whole-file.ts";
import type { Algorithm } from "./algorithm.ts";
import { Checkpoints } from "./checkpoints.ts";
import { holdoutsBefore } from "./describe-run.ts";
import { isLabelled, playableOf, validationOf } from "./environment-of.ts";
import { explosion } from "./explosion.ts";
import type { JudgeOffer } from "./judged/ask.ts";
import { requireVerdicts } from "./judged/dropped-limit.ts";
import { judgedRewards } from "./judged/group-rewards.ts";
import { VersusInitial } from "./judged/versus-initial.ts";
import type { TrainedPolicy, TrainOptions } from "./options.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { sabotageOf } from "./sabotage.ts";
import { type TrainSettings, usualSettings } from "./settings.ts";
import type { Batch, BatchSeconds, Source } from "./source.ts";
import type { Examples } from "./sources/examples.ts";
import { type Stop, stopOf } from "./stop-conditions.ts";
import { lossCallOf, type UpdatePlan } from "./update.ts";
import { type Evaluation, validate } from "./validate.ts";
import { type Judged, Watch } from "./watch.ts";

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
  /** A few episodes of the last step, where it sampled. */
  sampled: NonNullable<Batch["samples"]> = [];
  readonly settings: TrainSettings;
  readonly engine: Engine;
  readonly source: Source;
  readonly plan: UpdatePlan;
  readonly watch: Watch;
  readonly #parts: Parts;
  readonly #checkpoints: Checkpoints;
  /** Where a judge rewards, and something is validated. */
  readonly #versus: VersusInitial | undefined;
  #evaluatingSeconds = 0;
  /** Of updates and validations, including time before a resume. */
  #seconds = 0;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.settings = parts.settings;
    this.engine = parts.engine;
    this.source = parts.source;
    this.plan = parts.plan;
    this.#checkpoints = new Checkpoints(parts, parts.engine);
    this.#versus = versusOf(parts);
    this.watch = new Watch(parts.algorithm, parts.settings, {
      scratch: parts.options.init === "scratch",
      judged: judgedBy(parts.options),
    });
  }

  static async open(
    options: TrainOptions,
    algorithm: Algorithm,
    settings: TrainSettings,
  ): Promise<Training> {
    const parts = await prepare(options, algorithm, settings);
    try {
      return await Training.#begin(parts);
    } catch (error) {
      await parts.engine.close();
      throw error;
    }
  }

  /** Claims the folder, and continues from a saved state if the run is resumed. */
  static async #begin(parts: Prepared): Promise<Training> {
    const { options, algorithm, settings, engine, environment, data } = parts;
    const folder = await TrainFolder.open(options.outdir, await parts.manifest(), {
      ...options,
      inputs: [
        ...parts.inputs.flatMap((input) => input.path ?? []),
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
        rewards: options.judge && judgedRewards(options.judge, offerOf(options)),
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
    this.#checkpoints.best = best;
    if (this.#versus) this.#versus.initial = await this.#parts.folder.readBaseline();
    for (const record of await read("timing", timingRecordSchema)) this.#spend(record);
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
    const record: TimingRecord = {
      step: this.step,
      sampling_s: seconds.sampling,
      scoring_s: seconds.scoring,
      logprobs_s: seconds.logprobs,
      updating_s: seconds.updating,
      evaluating_s: this.#evaluatingSeconds,
      ...(usedShare !== undefined && { used_share: usedShare }),
    };
    await this.#parts.folder.add("timing", record);
    this.#spend(record);
    this.#evaluatingSeconds = 0;
  }

  #spend({ step: _, used_share: _share, ...seconds }: TimingRecord): void {
    for (const spent of Object.values(seconds)) this.#seconds += spent;
  }

  /** Measures the policy on the validation set, where there is one, and keeps it if it is the best. */
  async validate(): Promise<void> {
    const { dev, folder, options, settings } = this.#parts;
    if (settings.evaluate.every === 0) return;
    const found = await this.#measure(dev, this.#versus);
    if (!found) return;
    const started = performance.now();
    if (this.step === 0 && this.#versus) await folder.writeBaseline(this.#versus.initial);
    this.watch.evaluations.push(found.record);
    await folder.add("evaluations", found.record);
    for (const sample of found.samples) await folder.add("samples", sample);
    options.onValidation?.(found.record, found.samples);
    this.requireVerdicts();
    if (this.watch.best?.step === this.step) await this.#checkpoints.keepBest(this.step);
    this.#evaluatingSeconds += (performance.now() - started) / 1000;
  }

  async #measure(
    set: Examples | undefined,
    versus?: VersusInitial | undefined,
  ): Promise<Evaluation | undefined> {
    const environments = validationOf(this.#parts.options, this.settings);
    if (!set || !environments) return undefined;
    const started = performance.now();
    const { algorithm } = this.#parts;
    const found = await validate(
      ...([this.engine, algorithm, set, environments, this.settings, this.step] as const),
      versus,
    );
    this.#evaluatingSeconds += (performance.now() - started) / 1000;
    return found;
  }

  /** Throws where a judge left more groups without a verdict than the run allows. */
  requireVerdicts(): void {
    const { judge, judgeDroppedLimit } = this.#parts.options;
    if (judge) requireVerdicts(this.watch.steps, this.watch.evaluations, judgeDroppedLimit);
  }

  /** The condition of the settings `stop` that is met now. */
  stop(): Stop | undefined {
    const { steps, evaluations } = this.watch;
    return stopOf({ steps, evaluations, seconds: this.#spent() }, this.settings.stop);
  }

  /** A repeated run stops at the recorded step; its own clock is ignored. */
  #spent(): number {
    const { timeIsUpAt: at } = this.#parts.options;
    if (at === undefined) return this.#seconds + this.#evaluatingSeconds;
    return at !== null && this.step >= at ? Number.POSITIVE_INFINITY : 0;
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
    const state = { step: this.step, source: this.source.state(), best: this.#checkpoints.best };
    await folder.saveState(state, (dir) => this.engine.saveState(dir));
    await this.#checkpoints.export("checkpoint", this.step);
  }

  /** The kept policy, the holdout set if one was named, the summary. */
  async finish(stopped: Stop | undefined): Promise<TrainedPolicy> {
    const { options, folder, manifest, algorithm } = this.#parts;
    if (stopped) options.onStop?.({ ...stopped, step: this.step });
    const frozen = this.watch.usesReference ? await this.#referenceFrozen() : null;
    const kept = (stopped && this.watch.best?.step) ?? this.step;
    if (kept !== this.step) await this.#checkpoints.restoreBest();
    const holdout = await this.#test();
    const fingerprint = await this.#checkpoints.export("checkpoint", kept);
    // The last evaluations came after the last step was recorded.
    await this.#time({ sampling: 0, scoring: 0, logprobs: 0, updating: 0 });
    const { steps, raised } = this.watch;
    // Without validations, those of the last step are what a person can read.
    if (this.watch.evaluations.length === 0)
      for (const sample of this.sampled)
        await folder.add("samples", { step: this.step, ...sample });
    const end = {
      steps: this.step,
      tokens: steps.reduce((sum, { tokens }) => sum + Number(tokens), 0),
      first_loss: Number(steps[0]?.loss),
      last_loss: Number(steps.at(-1)?.loss),
      stop: {
        ...{ reason: stopped?.reason ?? ALL_STEPS_DONE, step: this.step, kept },
        ...(stopped && { message: stopped.message }),
      },
      alarms: raised.size,
      reference_frozen: frozen,
      holdout,
      checkpoint_fingerprint: fingerprint,
    };
    const summary = await folder.finish(await manifest(), end, usualSettings(algorithm));
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
    this.#checkpoints.tested++;
    return { evaluations: 1, before, pass_rate: found.record.pass_rate };
  }

  explosion(step: number, loss: number): Error {
    return explosion(this.#parts, step, loss);
  }

  /** Lets go of everything; what is there can be resumed. */
  async leave(): Promise<void> {
    await this.#parts.folder.leave();
    await this.engine.close();
  }
}

/** What an earlier run in the folder had saved: a run that starts again must not use it. */
async function removeEarlier(outdir: string): Promise<void> {
  await removeAll(outdir, [
    ...["state", ".state.previous", "best", ".best.previous", "best-adapter", "adapter"],
    ...["checkpoint", ".checkpoint.previous", KEPT, BASELINE],
  ]);
}

/** What a judge is told that the policy could use. */
function offerOf(options: TrainOptions): JudgeOffer {
  return { tools: playableOf(options)?.tools ?? [] };
}

function versusOf({ options, settings, dev }: Prepared): VersusInitial | undefined {
  const { judge } = options;
  const { seed, evaluate } = settings;
  if (!judge || !dev || evaluate.every === 0) return undefined;
  return new VersusInitial({
    judge,
    ...offerOf(options),
    seed,
    most: evaluate.judge_tasks ?? undefined,
  });
}

function judgedBy(options: TrainOptions): Judged | undefined {
  return options.judge && { labelled: isLabelled(options) };
}
