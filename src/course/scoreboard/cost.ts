/** What a week cost: tokens and money of its rollouts and trainings, and the time of all its runs. */

import path from "node:path";
import { dataError } from "../../core/index.ts";
import { openRollout, type Run, tokensUsed, totalSeconds } from "../../runs/index.ts";
import type { Training } from "../plan/training.ts";
import { Trainings } from "../plan/trainings.ts";
import { CANNOT_COUNT, type Metrics, type UsedPart } from "./week.ts";

/** A rollout or a training of the week, verified. */
export interface Part {
  readonly used: UsedPart;
  readonly tokens: number;
  readonly seconds: number;
  /** In the currency of the stated prices; null where no price was stated. */
  readonly money: number | null;
  /** Of the policy that a training kept, to its initial policy. */
  readonly kl: number | null;
}

/** Opens the trainings and rollouts of a week; throws for one that is not as it was written. */
export class Parts {
  readonly #dir: string;
  readonly #trainings: Promise<Trainings>;

  constructor(dir: string) {
    this.#dir = dir;
    this.#trainings = Trainings.read(dir);
  }

  async training(name: string, pricePerHour: number | null): Promise<Part> {
    const run = await (await this.#trainings).open(name);
    if (typeof run === "string")
      throw dataError(`${name} is not evidence: ${run}`, "Train again, then add the week.");
    const seconds = totalSeconds(run.records);
    const { trained, sampled } = tokensUsed(run.records);
    return {
      used: { path: name, kind: "train", manifest_sha256: run.summary.manifest_sha256 },
      tokens: trained + sampled,
      ...{ seconds, money: pricePerHour === null ? null : (seconds / 3600) * pricePerHour },
      kl: klOf(run),
    };
  }

  async rollout(name: string): Promise<Part> {
    const rollout = await openRollout(path.join(this.#dir, name));
    const [edited] = await rollout.editedFiles();
    if (edited !== undefined)
      throw dataError(`${name} was edited: ${edited}`, "Sample again, then add the week.");
    const { cost, manifest_sha256 } = rollout.summary;
    if (cost.n_uncounted > 0)
      throw dataError(`${name} has ${cost.n_uncounted} answers without token counts`, CANNOT_COUNT);
    return {
      used: { path: name, kind: "rollout", manifest_sha256 },
      tokens: cost.prompt_tokens + cost.completion_tokens,
      ...{ seconds: rollout.manifest.volatile.seconds, money: cost.total, kl: null },
    };
  }
}

function klOf({ summary, records: { evaluations } }: Training): number | null {
  const kept = evaluations.find(({ step }) => step === summary.stop.kept) ?? evaluations.at(-1);
  return kept?.kl_exact ?? null;
}

/** The sum over the parts; null where the week has nothing that costs. */
export function costOf(run: Run | undefined, parts: readonly Part[]): Metrics["cost"] {
  if (run === undefined && parts.length === 0) return null;
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const priced = parts.flatMap(({ money }) => (money === null ? [] : [money]));
  return {
    seconds: (run?.manifest.volatile.seconds ?? 0) + sum(parts.map(({ seconds }) => seconds)),
    tokens: parts.length === 0 ? null : sum(parts.map(({ tokens }) => tokens)),
    money: priced.length === 0 ? null : sum(priced),
    unpriced: parts.length - priced.length,
  };
}

/** The KL of the last training that measured it. */
export function klOfParts(parts: readonly Part[]): Metrics["kl"] {
  const last = parts.findLast(({ kl }) => kl !== null);
  return last ? { value: last.kl as number, from: `exact KL of ${last.used.path}` } : null;
}
