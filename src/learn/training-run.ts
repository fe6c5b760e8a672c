/** A training run in progress: what it is made of, what it has written, and how it ends. */

import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { adapterVector, loadAdapter, saveAdapter } from "../policy/adapter.ts";
import { type Checkpoint, loadCheckpoint, saveCheckpoint } from "../policy/checkpoint.ts";
import { checkpointFolder } from "../policy/pi0.ts";
import { promptTokens } from "../policy/prompt.ts";
import { observeOccasion } from "../runs/manifest.ts";
import { type Stream, TrainFolder } from "../runs/train-folder.ts";
import type { TrainManifest, TrainSummary } from "../runs/train-schemas.ts";
import { type History, LIMITS } from "./alarms/index.ts";
import type { Limits } from "./alarms/limits.ts";
import { best } from "./alarms/stopping.ts";
import type { Algorithm, Memory } from "./algorithm.ts";
import { type Described, holdoutsBefore, manifestOf, trainedBlock } from "./describe-run.ts";
import { evaluate } from "./evaluate.ts";
import { HeldOutPrompts } from "./held-out.ts";
import { LivePolicy } from "./live-policy.ts";
import type { TrainedPolicy, TrainOptions } from "./options.ts";
import { adapters, everything } from "./parts/trainable.ts";
import type { Alarm, EvaluationRecord, StepRecord } from "./records.ts";
import { refuseHalves, refuseLearnedFrom } from "./refusals.ts";
import { type Position, readPosition, savePosition } from "./resume-state.ts";
import type { TrainSettings } from "./settings.ts";
import type { Source } from "./source.ts";
import { type Examples, longestPrompt, readExamples } from "./sources/examples.ts";
import { openSource } from "./sources/index.ts";
import { KEPT } from "./sources/passing.ts";
import type { Reading } from "./sources/texts.ts";
import { startingPolicy } from "./starting-policy.ts";
import { startState } from "./trainer.ts";
import { type Moved, Updater } from "./update.ts";

/** Rows that are judged at once; at most as many are sampled. */
const AT_ONCE = 256;

/** Where the adapters of each checkpoint lie. */
const ADAPTERS = { checkpoint: "adapter", best: "best-adapter" } as const;

/** What a run is made of, and what it says of itself. */
interface Parts extends Described {
  readonly dev: Examples | undefined;
  readonly holdout: Examples | undefined;
  readonly source: Source;
  readonly policy: LivePolicy;
  readonly folder: TrainFolder;
  readonly updater: Updater;
  readonly memory: Memory;
  readonly manifest: () => Promise<TrainManifest>;
}

interface Seconds {
  readonly sampling: number;
  readonly scoring: number;
  /** By the reference and, where there is a value head, by the policy itself. */
  readonly judging: number;
  readonly updating: number;
}

export class TrainingRun {
  step = 0;
  readonly settings: TrainSettings;
  readonly source: Source;
  readonly updater: Updater;
  readonly memory: Memory;
  readonly limits: Limits;
  readonly raised = new Set<string>();
  readonly #steps: StepRecord[] = [];
  readonly #evaluations: EvaluationRecord[] = [];
  readonly #parts: Parts;
  #evaluatingSeconds = 0;
  /** Evaluations on the holdout set. */
  #tested = 0;
  /** Those of the best policy, once it speaks again in place of the last. */
  #keptAdapters: Float32Array | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.settings = parts.settings;
    this.source = parts.source;
    this.updater = parts.updater;
    this.memory = parts.memory;
    const { plateau, kl_limit: kl } = parts.settings;
    this.limits = { ...LIMITS, plateau, kl };
  }

  /** Rows of a batch. */
  get rows(): number {
    return this.source.rows;
  }

  get history(): History {
    const { algorithm, settings } = this.#parts;
    return {
      steps: this.#steps,
      evaluations: this.#evaluations,
      facts: {
        usesReference: algorithm.reference === true || algorithm.needs === "rollouts",
        maxTokens: (algorithm.needs === "rollouts" ? settings.rollouts : settings.evaluate)
          .max_tokens,
      },
    };
  }

  static async open(
    options: TrainOptions,
    algorithm: Algorithm,
    settings: TrainSettings,
  ): Promise<TrainingRun> {
    const occasion = observeOccasion();
    refuseHalves(options, settings, algorithm);
    const start = await startingPolicy(options, algorithm, settings.seed);
    const dev = options.dev === undefined ? undefined : await readExamples(options.dev, "dev");
    const holdout =
      options.holdout === undefined ? undefined : await readExamples(options.holdout, "holdout");
    refuseLearnedFrom(start, [dev, holdout]);
    const position = options.resume ? await readPosition(options.outdir) : undefined;
    const memory: Memory = position?.memory ?? {};
    let policy: LivePolicy | undefined;
    const source = await openSource({
      ...{ algorithm, settings, memory },
      dataset: options.dataset,
      outdir: options.outdir,
      rewards: options.rewards ?? [],
      cost: options.cost,
      heldOut: new HeldOutPrompts([dev, holdout].filter((set) => set !== undefined)),
      reading: readingOf(start),
      policy: () => policy as LivePolicy,
      onProgress: options.onProgress,
    });
    const length = lengthOf(source, start, [dev, holdout], settings);
    policy = new LivePolicy(start, {
      ...{ length, threads: options.threads, sabotage: settings.sabotage },
      rows: Math.min(AT_ONCE, Math.max(source.rows, dev?.list.length ?? 0)),
    });
    const sets = [dev, holdout].filter((set) => set !== undefined);
    const inputs = [...source.inputs, ...sets.map(({ input }) => input)];
    const described = { options, algorithm, settings, start, inputs, length };
    const manifest = async () => manifestOf(described, await occasion());
    const folder = await TrainFolder.open(options.outdir, await manifest(), position?.bytes, {
      ...options,
      inputs: [
        ...inputs.map((input) => input.path),
        ...(options.init === "scratch" ? [] : [checkpointFolder(options.init)]),
      ],
    });
    try {
      if (!position) await forget(options.outdir);
      const trainable = settings.lora
        ? adapters(start, settings.lora, settings.seed)
        : everything(start);
      const state = position?.state ?? startState(trainable.start);
      const made = { start, trainable, algorithm, settings, source, length };
      const updater = new Updater(made, state, options.threads);
      policy.become(() => updater.parameters);
      const run = new TrainingRun({
        ...{ ...described, dev, holdout, source, policy, folder, updater, memory, manifest },
      });
      await run.#goOn(position);
      return run;
    } catch (error) {
      await folder.leave();
      throw error;
    }
  }

  async #goOn(position: Position | undefined): Promise<void> {
    if (!position) return;
    this.step = position.step;
    // One by one: a long run has more of them than a call takes arguments.
    for (const step of await this.#read<StepRecord>("metrics")) this.#steps.push(step);
    for (const one of await this.#read<EvaluationRecord>("evaluations")) {
      this.#evaluations.push(one);
    }
    for (const { alarm } of await this.#read<Alarm>("alarms")) this.raised.add(alarm);
  }

  async #read<T>(stream: Stream): Promise<T[]> {
    const text = await readFile(path.join(this.#parts.folder.dir, `${stream}.jsonl`), "utf8");
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as T]));
  }

  /** Writes down a step that was made. */
  async record(record: StepRecord, seconds: Seconds): Promise<StepRecord> {
    const { folder, policy } = this.#parts;
    this.step = record.step;
    this.#steps.push(record);
    policy.become(() => this.updater.parameters);
    await folder.add("metrics", record);
    await this.#time(seconds);
    return record;
  }

  async #time({ sampling, scoring, judging, updating }: Seconds): Promise<void> {
    await this.#parts.folder.add("timing", {
      step: this.step,
      sampling_s: sampling,
      scoring_s: scoring,
      logprobs_s: judging,
      updating_s: updating,
      evaluating_s: this.#evaluatingSeconds,
    });
    this.#evaluatingSeconds = 0;
  }

  /** Measures the policy on the validation set, where there is one, and keeps it if it is the best. */
  async evaluate(): Promise<void> {
    const { options, dev, folder, policy, settings } = this.#parts;
    const { validation = options.rewards?.[0], rewards = [] } = options;
    if (!dev || !validation || settings.evaluate.every === 0) return;
    const started = performance.now();
    const judges = { validation, rewards: rewards.length > 0 ? rewards : [validation] };
    const { record, samples } = await evaluate(policy, dev, judges, settings, this.step);
    this.#evaluations.push(record);
    await folder.add("evaluations", record);
    for (const sample of samples) await folder.add("samples", sample);
    if (best(this.#evaluations)?.step === this.step) await this.#write("best");
    this.#evaluatingSeconds += (performance.now() - started) / 1000;
  }

  async raise(alarm: Alarm): Promise<void> {
    this.raised.add(alarm.alarm);
    await this.#parts.folder.add("alarms", alarm);
    const stops = alarm.stops && this.settings.alarms_stop;
    this.#parts.options.onAlarm?.({ ...alarm, stops });
  }

  /** Saves the position when it is time to. */
  async save(): Promise<void> {
    const { options, folder } = this.#parts;
    if (this.step % options.saveEvery !== 0 || this.step === this.settings.steps) return;
    const { step, memory } = this;
    const position = { step, memory, bytes: folder.bytes, state: this.updater.state };
    await savePosition(options.outdir, position);
    await this.#write("checkpoint");
  }

  /** The kept policy, the holdout if one was named, the summary. */
  async finish(stopped: Alarm | undefined): Promise<TrainedPolicy> {
    const { options, folder, policy, manifest } = this.#parts;
    const top = stopped && best(this.#evaluations);
    const frozen = this.history.facts.usesReference ? policy.referenceIsFrozen() : null;
    const kept = top?.step ?? this.step;
    if (kept !== this.step) await this.#becomeBest();
    const holdout = await this.#test();
    const fingerprint = await this.#write("checkpoint", kept);
    // The last evaluations came after the last step was written down.
    await this.#time({ sampling: 0, scoring: 0, judging: 0, updating: 0 });
    const [first, last] = [this.#steps[0], this.#steps.at(-1)];
    const summary = await folder.finish(await manifest(), {
      steps: this.step,
      tokens: this.#steps.reduce((sum, { tokens }) => sum + Number(tokens), 0),
      first_loss: Number(first?.loss),
      last_loss: Number(last?.loss),
      stop: { reason: stopped?.alarm ?? "all steps done", step: this.step, kept },
      alarms: this.raised.size,
      reference_frozen: frozen,
      holdout,
      checkpoint_fingerprint: fingerprint,
    });
    await rm(path.join(options.outdir, "state"), { recursive: true, force: true });
    await this.#close();
    return { dir: options.outdir, checkpoint: path.join(options.outdir, "checkpoint"), summary };
  }

  /** The explicit final evaluation, the only one on the holdout set. */
  async #test(): Promise<TrainSummary["holdout"]> {
    const { options, holdout, policy, start } = this.#parts;
    const { validation = options.rewards?.[0], rewards = [] } = options;
    const before = holdoutsBefore(start);
    if (!holdout || !validation) return { evaluations: 0, before, pass_rate: null };
    const judges = { validation, rewards: rewards.length > 0 ? rewards : [validation] };
    const started = performance.now();
    const { record } = await evaluate(policy, holdout, judges, this.settings, this.step);
    this.#evaluatingSeconds += (performance.now() - started) / 1000;
    this.#tested++;
    return { evaluations: 1, before, pass_rate: record.pass_rate };
  }

  /** Writes the policy as it speaks now. */
  async #write(name: "checkpoint" | "best", step = this.step): Promise<string> {
    const { options, start, policy } = this.#parts;
    const { architecture, tokenizer, maxLength } = start;
    const tested = holdoutsBefore(start) + this.#tested;
    const trained = trainedBlock(this.#parts, step, tested);
    const fingerprint = await saveCheckpoint(path.join(options.outdir, name), {
      ...{ architecture, tokenizer, maxLength, trained },
      parameters: Float32Array.from(policy.parameters),
    });
    await this.#writeAdapter(name, { merged: fingerprint, trained });
    return fingerprint;
  }

  /** Beside a policy of which only adapters are trained: the adapters by themselves. */
  async #writeAdapter(
    name: keyof typeof ADAPTERS,
    what: { readonly merged: string; readonly trained: JsonObject },
  ): Promise<void> {
    const { options, start } = this.#parts;
    const { lora: settings } = this.settings;
    const dir = path.join(options.outdir, ADAPTERS[name]);
    // A start from scratch lies nowhere, so that there is nothing to put an adapter on.
    if (!settings || options.init === "scratch") {
      await rm(dir, { recursive: true, force: true });
      return;
    }
    const vector = this.#keptAdapters ?? this.updater.state.parameters;
    await saveAdapter(dir, { base: start, settings, vector, ...what });
  }

  async #becomeBest(): Promise<void> {
    const { options, policy, start } = this.#parts;
    const folder = (name: string) => path.join(options.outdir, name);
    const { parameters } = await loadCheckpoint(folder("best"));
    policy.become(() => parameters);
    if (!this.settings.lora || options.init === "scratch") return;
    const adapter = await loadAdapter(folder(ADAPTERS.best));
    this.#keptAdapters = adapterVector(adapter, start.architecture);
  }

  explosion(step: number, loss: number): Error {
    const { outdir, saveEvery } = this.#parts.options;
    const good = Math.floor((step - 1) / saveEvery) * saveEvery;
    return dataError(
      `the loss became ${Number.isFinite(loss) ? loss.toPrecision(3) : "no number"} at step ${step}`,
      good > 0
        ? `The last good checkpoint is that of step ${good}, in ${path.join(outdir, "checkpoint")}. Lower the learning rate and begin anew.`
        : "No checkpoint was saved before. Lower the learning rate and begin anew.",
    );
  }

  /** Lets go of everything; what is there can be gone on with. */
  async leave(): Promise<void> {
    await this.#parts.folder.leave();
    await this.#close();
  }

  async #close(): Promise<void> {
    await this.updater.close();
    await this.#parts.policy.close();
  }
}

/** What an earlier run in the folder had saved to be gone on with: one that is begun anew must not. */
async function forget(outdir: string): Promise<void> {
  for (const name of [
    ...["state", ".state.previous", "best", ".best.previous", "best-adapter", "adapter"],
    ...["checkpoint", ".checkpoint.previous", KEPT],
  ]) {
    await rm(path.join(outdir, name), { recursive: true, force: true });
  }
}

/** Far beyond any loss that the first step promised. */
export function exploded({ loss, gradient_norm }: Moved, first: StepRecord | undefined): boolean {
  const usual = Math.abs(Number(first?.loss ?? 0));
  return !(Math.abs(loss) < 100 + 100 * usual) || !Number.isFinite(gradient_norm);
}

function readingOf({ tokenizer, chat, maxLength }: Checkpoint): Reading {
  return {
    promptTokens: (text) => promptTokens({ tokenizer, chat }, text),
    encode: (text) => tokenizer.encode(text),
    end: tokenizer.endTokens[0] as number,
    maxLength,
  };
}

/** Tokens of a row, prompt and completion: the longest that can come up, in steps of eight. */
function lengthOf(
  source: Source,
  start: Checkpoint,
  sets: readonly (Examples | undefined)[],
  { evaluate: { max_tokens: most } }: TrainSettings,
): number {
  const prompts = sets.map((set) => (set ? longestPrompt(set, readingOf(start)) + most : 0));
  const longest = Math.max(source.longest, ...prompts);
  return Math.min(start.maxLength, Math.ceil(longest / 8) * 8);
}
