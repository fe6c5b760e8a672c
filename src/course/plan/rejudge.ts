/** Asks the scorers of a training run again: lines can be adjusted to each other, a scorer cannot. */

import path from "node:path";
import {
  type CheckedScore,
  type Example,
  type GuardedScorer,
  type JsonObject,
  SCORER_ERROR,
  toExample,
} from "../../core/index.ts";
import { JsonlFile, type TrainManifest } from "../../runs/index.ts";
import { openScorer } from "../../scorers/index.ts";
import { readConfig } from "../workspace.ts";
import { fileSha256, realInside } from "../workspace-files.ts";
import type { Training } from "./training.ts";
import { inputOf, validator } from "./training-settings.ts";

type Input = TrainManifest["inputs"][number];
type Answer = { readonly id: string; readonly completion: string };

/** Holds the scorers and data sets of a workspace, opened when they are first asked for. */
export class Rejudge {
  readonly #dir: string;
  readonly #scorings = new Map<string, Promise<GuardedScorer | undefined>>();
  readonly #examples = new Map<string, Promise<ReadonlyMap<string, Example> | undefined>>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** What speaks against the samples that were kept to be read. */
  async problemInSamples({ manifest, records }: Training): Promise<string | undefined> {
    const [input, judge] = [inputOf(manifest, "dev"), validator(manifest)];
    const examples = input && (await this.examplesOf(input));
    if (!examples || !judge || records.samples.length === 0) return undefined;
    const order = [...examples.values()];
    let [place, last] = [0, -1];
    for (const { step, id, prompt } of records.samples) {
      place = step === last ? place + 1 : 0;
      last = step;
      if (order[place]?.id !== id || order[place]?.prompt !== prompt)
        return `It was edited: samples.jsonl asks ${id} otherwise than its data set.`;
    }
    const judged = await this.judge(judge.identity, examples, records.samples);
    const at = records.samples.findIndex(
      ({ reward, code }, i) => judged && (judged[i]?.reward !== reward || judged[i]?.code !== code),
    );
    const [then, now] = [records.samples[at], judged?.[at]];
    if (!then || !now || now.code === SCORER_ERROR) return undefined;
    const [was, is] = [`${then.code} with ${then.reward}`, `${now.code} with ${now.reward}`];
    return `It was edited: ${then.id} at step ${then.step} has ${was}, and its scorer says ${is}.`;
  }

  /** What a scorer says now; undefined where this version of it, or an example, is not here. */
  async judge(
    identity: JsonObject,
    examples: ReadonlyMap<string, Example>,
    answers: readonly Answer[],
  ): Promise<CheckedScore[] | undefined> {
    const scoring = await this.#scoringOf(identity);
    const asked = answers.flatMap(({ id, completion }) => {
      const example = examples.get(id);
      return example ? [{ example, completion }] : [];
    });
    return asked.length === answers.length ? scoring?.scoreBatch(asked) : undefined;
  }

  #scoringOf(identity: JsonObject): Promise<GuardedScorer | undefined> {
    const source = String(identity.source_sha256);
    const known = this.#scorings.get(source) ?? this.#find(identity);
    this.#scorings.set(source, known);
    return known;
  }

  /** The workspace's own, the built-in one, or the file that was named. */
  async #find({
    source_sha256: source,
    path: named,
  }: JsonObject): Promise<GuardedScorer | undefined> {
    const file =
      typeof named === "string" ? realInside(this.#dir, path.resolve(this.#dir, named)) : undefined;
    const own = path.join(this.#dir, readConfig(this.#dir).scorer);
    for (const candidate of [own, undefined, ...(file === undefined ? [] : [file])]) {
      const scoring = await openScorer(candidate).catch(() => undefined);
      if (scoring?.identity.source_sha256 === source) return scoring;
      await scoring?.close();
    }
    return undefined;
  }

  /** A data set as it was when it was used, in its order; undefined where it is no longer here. */
  examplesOf(input: Input): Promise<ReadonlyMap<string, Example> | undefined> {
    const known = this.#examples.get(input.sha256) ?? this.#read(input);
    this.#examples.set(input.sha256, known);
    return known;
  }

  /** A manifest names the file as it was typed; a workspace that moved keeps what follows `data/`. */
  async #read({ path: named, sha256 }: Input): Promise<Map<string, Example> | undefined> {
    const tail = /(?:^|[\\/])(data[\\/].*)$/.exec(named)?.[1]?.replaceAll("\\", "/");
    for (const name of [named, tail ?? named]) {
      const file = path.resolve(this.#dir, name);
      if ((await fileSha256(file)) !== sha256) continue;
      const byId = new Map<string, Example>();
      for await (const batch of new JsonlFile(file, toExample).batches())
        for (const example of batch) byId.set(example.id, example);
      return byId;
    }
    return undefined;
  }
}
