/**
 * The training loop: batch, step, metrics, and now and then a saved position from which it can go on.
 * Killed at any moment and resumed, it ends with the bytes of a run that nobody interrupted.
 */

import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { dataError, LockedRoomError, messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Tensor } from "../graph/tensor.ts";
import type { Architecture } from "../policy/architecture.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import {
  type Checkpoint,
  checkpointOf,
  loadCheckpoint,
  saveCheckpoint,
} from "../policy/checkpoint.ts";
import { initialise, SIZES, type Size } from "../policy/initialise.ts";
import { replaceFolder, wholeFolder } from "../policy/replace-folder.ts";
import { readSafetensors, safetensorsBytes } from "../policy/safetensors.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import { observeOccasion } from "../runs/manifest.ts";
import { TrainFolder } from "../runs/train-folder.ts";
import { TRAIN_SCHEMA, type TrainManifest, type TrainSummary } from "../runs/train-schemas.ts";
import { sftLoss } from "./algorithms/sft.ts";
import { rateAt, type Schedule } from "./parts/schedule.ts";
import { type Text, Texts, toText } from "./texts.ts";
import { startState, Trainer, type TrainState } from "./trainer.ts";

export interface TrainOptions {
  readonly dataset: string;
  /** "scratch", or the folder of a checkpoint. */
  readonly init: string;
  /** Of a policy from scratch. */
  readonly size: Size;
  readonly steps: number;
  readonly batch: number;
  readonly seed: number;
  readonly schedule: Schedule;
  /** Steps between saved positions. */
  readonly saveEvery: number;
  readonly threads: number;
  readonly outdir: string;
  readonly resume?: boolean | undefined;
  readonly force?: boolean | undefined;
  /** Hears of each step: how many are done, and the tokens of this one. */
  readonly onStep?: ((done: number, tokens: number) => void) | undefined;
}

export interface TrainedPolicy {
  readonly dir: string;
  readonly checkpoint: string;
  readonly summary: TrainSummary;
}

/** Nats per token. A policy that tosses a coin among all tokens of any vocabulary is below it. */
const EXPLODED = 100;

export async function trainSft(options: TrainOptions): Promise<TrainedPolicy> {
  const occasion = observeOccasion();
  const start = await startingPolicy(options);
  const texts = await Texts.read(options.dataset, start.tokenizer, start.maxLength);
  const length = Math.min(start.maxLength, Math.ceil(texts.longest / 8) * 8);
  const describe = async () => describeRun(options, start, texts, length, await occasion());
  const saved = options.resume ? await readPosition(options.outdir) : undefined;
  const folder = await TrainFolder.open(
    options.outdir,
    await describe(),
    saved?.metrics_bytes ?? 0,
    {
      ...options,
      inputs: [options.dataset],
    },
  );
  try {
    const state = saved?.state ?? startState(start.parameters);
    const totals = saved?.totals ?? { tokens: 0, first_loss: 0, last_loss: 0 };
    const end = await loop(options, start, texts, length, folder, state, totals);
    const fingerprint = await writeCheckpoint(options, start, texts, end.state);
    const summary = await folder.finish(await describe(), {
      ...{ steps: end.state.step, ...end.totals },
      checkpoint_fingerprint: fingerprint,
    });
    await rm(path.join(options.outdir, "state"), { recursive: true, force: true });
    return { dir: options.outdir, checkpoint: path.join(options.outdir, "checkpoint"), summary };
  } catch (error) {
    await folder.leave();
    throw error;
  }
}

interface Totals {
  readonly tokens: number;
  readonly first_loss: number;
  readonly last_loss: number;
}

async function loop(
  options: TrainOptions,
  start: Checkpoint,
  texts: Texts,
  length: number,
  folder: TrainFolder,
  from: TrainState,
  before: Totals,
): Promise<{ state: TrainState; totals: Totals }> {
  const { steps, batch, seed, schedule, saveEvery, threads } = options;
  const trainer = await enough(options, () =>
    Trainer.create(
      start.placed,
      (weights) => ({
        loss: sftLoss(start.architecture, (name) => weights.get(name) as Tensor, { batch, length }),
      }),
      from,
      { threads },
    ),
  );
  let totals = before;
  try {
    for (let step = from.step + 1; step <= steps; step++) {
      const { used, ...rows } = texts.batch(step, batch, length, seed);
      const rate = rateAt(step, steps, schedule);
      const { loss, gradient_norm } = await enough(options, () => trainer.step(rows, rate));
      if (!(loss < EXPLODED) || !Number.isFinite(gradient_norm))
        throw exploded(options, step, loss);
      await folder.add({ gradient_norm, learning_rate: rate, loss, step, tokens: used });
      totals = {
        tokens: totals.tokens + used,
        first_loss: step === 1 ? loss : totals.first_loss,
        last_loss: loss,
      };
      if (step % saveEvery === 0 && step < steps) {
        await savePosition(options.outdir, trainer.state, totals, folder.bytes);
        await writeCheckpoint(options, start, texts, trainer.state);
      }
      options.onStep?.(step, used);
    }
    const { step, parameters, m, v } = trainer.state;
    return { state: { step, parameters, m, v }, totals };
  } finally {
    await trainer.close();
  }
}

function exploded({ outdir, saveEvery }: TrainOptions, step: number, loss: number): Error {
  const good = Math.floor((step - 1) / saveEvery) * saveEvery;
  return dataError(
    `the loss became ${Number.isFinite(loss) ? loss.toPrecision(3) : "no number"} at step ${step}`,
    good > 0
      ? `The last good checkpoint is that of step ${good}, in ${path.join(outdir, "checkpoint")}. Lower the learning rate and begin anew.`
      : "No checkpoint was saved before. Lower the learning rate and begin anew.",
  );
}

/** The runtime's own words about memory help nobody. */
async function enough<T>({ batch }: TrainOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LockedRoomError || !/alloc|memory/i.test(messageOf(error))) throw error;
    throw new LockedRoomError("usage", `a batch of ${batch} does not fit into memory`, {
      hint: "Lower --batch, or train a smaller policy.",
      cause: error,
    });
  }
}

async function startingPolicy({ dataset, init, size, seed }: TrainOptions): Promise<Checkpoint> {
  if (init !== "scratch") return loadCheckpoint(init);
  const { alphabet, longest } = await survey(dataset);
  const tokenizer = new CharacterTokenizer(alphabet);
  const architecture: Architecture = { ...SIZES[size], vocabulary: tokenizer.size };
  return checkpointOf({
    ...{ architecture, tokenizer, trained: null },
    parameters: initialise(architecture, seed),
    maxLength: Math.max(64, Math.ceil((longest + 2) / 16) * 16),
  });
}

/** The characters that a file of texts needs, in order, and how long its longest text is. */
async function survey(file: string): Promise<{ alphabet: string; longest: number }> {
  const characters = new Set<string>();
  let longest = 0;
  for await (const batch of new JsonlFile<Text>(file, toText).batches()) {
    for (const { prompt, completion } of batch) {
      const text = [...prompt, ...completion];
      for (const character of text) characters.add(character);
      longest = Math.max(longest, text.length);
    }
  }
  if (characters.size === 0)
    throw dataError(`${file} is empty`, "Give rows with prompt and completion.");
  return { alphabet: [...characters].sort().join(""), longest };
}

function describeRun(
  options: TrainOptions,
  start: Checkpoint,
  texts: Texts,
  length: number,
  volatile: TrainManifest["volatile"],
): TrainManifest {
  const { dataset, init, steps, batch, seed, schedule } = options;
  return {
    schema: TRAIN_SCHEMA,
    loop: "C",
    command: "train",
    algorithm: "sft",
    inputs: [
      { role: "texts", path: dataset, sha256: texts.sha256, bytes: texts.bytes, rows: texts.count },
    ],
    init_fingerprint: init === "scratch" ? null : start.fingerprint,
    architecture: { ...start.architecture },
    settings: {
      ...{ steps, batch, length, seed, schedule: { ...schedule } },
      reduction: "mean over the learned tokens of a batch",
    },
    volatile,
  };
}

async function writeCheckpoint(
  { outdir, steps, batch, seed, init }: TrainOptions,
  start: Checkpoint,
  texts: Texts,
  { step, parameters }: TrainState,
): Promise<string> {
  const trained: JsonObject = {
    ...{
      algorithm: "sft",
      step,
      steps,
      batch,
      seed,
      texts: texts.count,
      texts_sha256: texts.sha256,
    },
    from: init === "scratch" ? "scratch" : start.fingerprint,
  };
  const { architecture, tokenizer, maxLength } = start;
  return saveCheckpoint(path.join(outdir, "checkpoint"), {
    ...{ architecture, tokenizer, maxLength, trained },
    parameters: Float32Array.from(parameters),
  });
}

const POSITION = "position.json";
const TENSORS = "state.safetensors";

interface Saved {
  readonly state: TrainState;
  readonly totals: Totals;
  readonly metrics_bytes: number;
}

async function savePosition(
  outdir: string,
  state: TrainState,
  totals: Totals,
  metricsBytes: number,
): Promise<void> {
  const { step, ...vectors } = state;
  const tensors = Object.entries(vectors).map(([name, data]) => ({
    name,
    shape: [data.length],
    data,
  }));
  await replaceFolder(path.join(outdir, "state"), {
    [TENSORS]: safetensorsBytes(tensors),
    [POSITION]: `${JSON.stringify({ step, totals, metrics_bytes: metricsBytes })}\n`,
  });
}

/** Where an earlier sitting left off; undefined when it had saved nothing yet. */
async function readPosition(outdir: string): Promise<Saved | undefined> {
  const folder = wholeFolder(path.join(outdir, "state"));
  if (!existsSync(folder)) return undefined;
  try {
    const { step, totals, metrics_bytes } = JSON.parse(
      await readFile(path.join(folder, POSITION), "utf8"),
    );
    const tensors = await readSafetensors(path.join(folder, TENSORS));
    const [parameters, m, v] = ["parameters", "m", "v"].map((name) => tensors.get(name)?.data);
    if (!parameters || !m || !v || !Number.isInteger(step)) throw new Error("something is missing");
    return { state: { step, parameters, m, v }, totals, metrics_bytes };
  } catch (error) {
    throw dataError(`${folder} is damaged: ${messageOf(error)}`, "Begin anew with --force.");
  }
}
