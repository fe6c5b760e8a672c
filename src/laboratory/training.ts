/** Trainings of the laboratory: a few steps of a policy that is smaller than nano. */

import path from "node:path";
import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { GuardedScorer } from "../core/score.ts";
import { train } from "../learn/train.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { saveCheckpoint } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { nothingSeen } from "../policy/seen-prompts.ts";
import { readTrainingRun } from "../runs/read-training-run.ts";
import { ALL_STEPS_DONE } from "../runs/stop-reasons.ts";
import { openScorer } from "../scorers/open.ts";
import { writeText } from "./files.ts";
import type { Finding, Outcome } from "./finding.ts";
import type { Laboratory } from "./laboratory.ts";

/** What trainings begin with and learn from. */
interface Start {
  readonly init: string;
  readonly dataset: string;
  /** The scorer's name or file. */
  readonly scorer: string;
  readonly settings: JsonObject;
}

/** A training to make; what is left out is as in the laboratory's start. */
export interface Training {
  readonly name: string;
  readonly algorithm?: string;
  readonly init?: string;
  readonly dataset?: string;
  readonly dev?: string;
  /** The text of a scorer's file. */
  readonly scorer?: string;
  /** The name of a built-in scorer. */
  readonly scorerName?: string;
  /** Another scorer for validation. */
  readonly validation?: string;
  readonly settings?: JsonObject;
  readonly outdir?: string;
  readonly resume?: boolean;
  readonly saveEvery?: number;
  /** Ends as if interrupted after so many steps. */
  readonly stopAfter?: number;
}

export interface Trained extends Outcome {
  readonly dir: string;
  readonly checkpoint: string;
}

/** Rewards an answer whose first digit is at most 4. */
export const SMALL_DIGIT = `export const name = "small-digit", version = "1", spec = "0 to 4 first";
export function score(example, completion) {
  const good = /^[0-4]/.test(completion);
  return { reward: good ? 1 : 0, code: good ? "small" : "other", details: {} };
}
`;

const QUICK = {
  rollouts: { prompts: 8, group: 8, max_tokens: 4 },
  evaluate: { every: 0, max_tokens: 4 },
  rate: { peak: 0.01 },
};

/** One layer of 16 numbers; eight times the usual spread, so that some answers are likelier. */
function tinyPolicy(lab: Laboratory): Promise<string> {
  return lab.once("tiny policy", async () => {
    const dir = path.join(lab.dir, "tiny");
    const tokenizer = new CharacterTokenizer("0123456789+= ");
    const architecture = {
      ...{ ...SIZES.nano, vocabulary: tokenizer.size, width: 16, layers: 1 },
      ...{ heads: 2, keyHeads: 1, headSize: 8, inner: 24 },
    };
    await saveCheckpoint(dir, {
      ...{ architecture, tokenizer, trained: null, seen: nothingSeen(), maxLength: 24 },
      parameters: initialise(architecture, 1).map((x) => (x === 1 ? 1 : 8 * x)),
    });
    return dir;
  });
}

export const tinyExamples = (first = 0, count = 8) =>
  Array.from({ length: count }, (_, i) => ({ id: `s${first + i}`, prompt: `${first + i}+1=` }));

/** The tiny policy and its sums; or the checkpoint and the data of the training that was given. */
export function startOf(lab: Laboratory): Promise<Start> {
  return lab.once("training start", async () => {
    if (lab.train !== undefined) return givenStart(lab.train);
    return {
      init: await tinyPolicy(lab),
      dataset: await lab.dataset(tinyExamples()),
      scorer: await writeText(path.join(lab.dir, "small-digit.ts"), SMALL_DIGIT),
      settings: QUICK,
    };
  });
}

async function givenStart(dir: string): Promise<Start> {
  const { manifest } = await readTrainingRun(dir);
  const input = manifest?.inputs.find(({ role }) => role === "examples");
  if (!input?.path) {
    throw dataError(
      `${dir} did not learn from a file of examples`,
      "Name a training run of grpo or another algorithm that samples.",
    );
  }
  const reward = manifest?.scorers.find(({ role }) => role === "reward")?.identity;
  return {
    init: path.join(dir, "checkpoint"),
    dataset: input.path,
    scorer: String(reward?.path ?? reward?.name),
    settings: {
      ...QUICK,
      rollouts: { ...QUICK.rollouts, max_tokens: 32 },
      // A rate that suits a tiny policy ruins a larger one.
      rate: manifest?.settings.rate ?? QUICK.rate,
    } as JsonObject,
  };
}

/** Trains, and gives the alarms as findings; a refusal ends the pipeline. */
export async function trained(lab: Laboratory, wanted: Training): Promise<Trained> {
  const start = await startOf(lab);
  const outdir = wanted.outdir ?? lab.fresh(wanted.name);
  const alarms: Finding[] = [];
  const opened: GuardedScorer[] = [];
  const open = async (text: string | undefined, name: string) => {
    const file = text && (await writeText(path.join(`${outdir}-scorers`, `${name}.ts`), text));
    const scorer = await openScorer(file ?? wanted.scorerName ?? start.scorer, { timeoutMs: 1000 });
    opened.push(scorer);
    return scorer;
  };
  const { algorithm = "grpo", settings = {} } = wanted;
  let left = wanted.stopAfter ?? Number.POSITIVE_INFINITY;
  return lab.refusing("train", async () => {
    try {
      const sampled = algorithm !== "sft";
      const { checkpoint, summary } = await train({
        ...{ algorithm, size: "nano", threads: 1, outdir },
        init: wanted.init ?? start.init,
        dataset: wanted.dataset ?? start.dataset,
        ...(wanted.dev !== undefined && { dev: wanted.dev }),
        ...(sampled && { rewards: [await open(wanted.scorer, "reward")] }),
        ...(wanted.validation && { validation: await open(wanted.validation, "validation") }),
        settings: { ...start.settings, ...settings } as JsonObject,
        saveEvery: wanted.saveEvery ?? 1000,
        resume: wanted.resume,
        onAlarm: ({ alarm, message }) => {
          alarms.push({ check: "alarm", code: alarm, message });
        },
        onStep: () => {
          if (--left <= 0) throw new Paused();
        },
      });
      const verdict = summary.stop.reason === ALL_STEPS_DONE ? "trained" : "stopped";
      return { dir: outdir, checkpoint, verdict, findings: alarms };
    } catch (error) {
      if (!(error instanceof Paused)) throw error;
      return { dir: outdir, checkpoint: "", verdict: "paused", findings: alarms };
    } finally {
      for (const scorer of opened) await scorer.close();
    }
  });
}

class Paused extends Error {}
