/** Scores the rows of a run again: hashes can be adjusted to edited rewards, a scorer cannot. */

import { statSync } from "node:fs";
import path from "node:path";
import {
  type Example,
  type GuardedScorer,
  messageOf,
  SCORER_ERROR,
  type ScoreRequest,
  toExample,
} from "../core/index.ts";
import { JsonlFile, type ResultRow, type Run } from "../runs/index.ts";
import { openScorer } from "../scorers/index.ts";
import { readConfig } from "./workspace.ts";
import { fileSha256 } from "./workspace-files.ts";

export interface Rescored {
  /** What another scoring found to be otherwise. */
  readonly problem?: string;
  /** Why the rows could not be scored again. */
  readonly skipped?: string;
}

interface Examples {
  readonly sha256: string;
  readonly byId: ReadonlyMap<string, Example>;
}

/** What a row says of one answer. */
interface Claim extends ScoreRequest {
  readonly reward: number | null;
  readonly code: string;
}

const MOST_CONFIRMED = 100_000;

/** Holds the scorers of a workspace, opened when they are first asked for. */
export class Rescorer {
  readonly #dir: string;
  #scorings: Promise<GuardedScorer[]> | undefined;
  readonly #examples = new Map<string, Promise<Examples | undefined>>();
  /** Claims that hold: runs over the same data say most of them again. */
  readonly #confirmed = new Set<string>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  async rescore(run: Run): Promise<Rescored> {
    if (run.manifest.loop === "C") return { skipped: "Loop C rows have no scorer" };
    this.#scorings ??= openScorers(this.#dir);
    const { source_sha256: source } = run.manifest.scorer;
    const scoring = (await this.#scorings).find(
      ({ identity }) => identity.source_sha256 === source,
    );
    if (!scoring) return { skipped: "another version of the scorer" };
    try {
      const examples = await this.#examplesOf(run);
      if (!examples) return { skipped: "its data set is not here" };
      for await (const rows of run.results().batches()) {
        const doubt = await this.#doubt(scoring, examples, rows);
        if (doubt) return doubt;
      }
      return {};
    } catch (error) {
      return { problem: messageOf(error) };
    }
  }

  /** What speaks against these rows: the first answer that the scorer judges otherwise. */
  async #doubt(
    scoring: GuardedScorer,
    examples: Examples,
    rows: readonly ResultRow[],
  ): Promise<Rescored | undefined> {
    const asked = new Map<string, Claim>();
    for (const row of rows) {
      const example = examples.byId.get(row.id);
      if (!example) return { problem: `${row.id} is not in its data set.` };
      for (const { completion, reward, outcome_code: code } of row.samples ?? [row]) {
        if (completion === null) continue;
        const source = scoring.identity.source_sha256;
        const key = JSON.stringify([source, examples.sha256, row.id, completion, reward, code]);
        if (!this.#confirmed.has(key)) asked.set(key, { example, completion, reward, code });
      }
    }
    const claims = [...asked.values()];
    const judged = await scoring.scoreBatch(claims);
    const at = claims.findIndex(
      ({ reward, code }, i) => reward !== judged[i]?.reward || code !== judged[i]?.code,
    );
    const [then, now] = [claims[at], judged[at]];
    if (now?.code === SCORER_ERROR) return { skipped: "the scorer breaks on them now" };
    if (then && now) {
      const [was, is] = [`${then.code} with ${then.reward}`, `${now.code} with ${now.reward}`];
      return {
        problem: `It was edited: ${then.example.id} has ${was}, and its scorer says ${is}.`,
      };
    }
    if (this.#confirmed.size > MOST_CONFIRMED) this.#confirmed.clear();
    for (const key of asked.keys()) this.#confirmed.add(key);
    return undefined;
  }

  /** The whole examples: a scorer may look at more of one than a row repeats. */
  #examplesOf({ manifest }: Run): Promise<Examples | undefined> {
    const input = manifest.inputs.find(({ role }) => role === "dataset");
    if (!input) return Promise.resolve(undefined);
    const known = this.#examples.get(input.sha256) ?? this.#readExamples(input);
    this.#examples.set(input.sha256, known);
    return known;
  }

  /** A manifest names the file as it was typed; a workspace that moved keeps what follows `data/`. */
  async #readExamples({ path: named, sha256, bytes }: Run["manifest"]["inputs"][number]) {
    if (named === null) return undefined;
    const tail = /(?:^|[\\/])(data[\\/].*)$/.exec(named)?.[1]?.replaceAll("\\", "/");
    for (const name of [named, tail ?? named]) {
      const file = path.resolve(this.#dir, name);
      const found = statSync(file, { throwIfNoEntry: false });
      if (!found?.isFile() || found.size !== bytes) continue;
      if ((await fileSha256(file)) !== sha256) continue;
      const byId = new Map<string, Example>();
      for await (const batch of new JsonlFile(file, toExample).batches())
        for (const example of batch) byId.set(example.id, example);
      return { sha256, byId };
    }
    return undefined;
  }
}

/** The workspace's own and the built-in one; a scorer that cannot be loaded scores nothing. */
async function openScorers(dir: string): Promise<GuardedScorer[]> {
  const open = (file?: string) => openScorer(file).catch(() => undefined);
  const scorings = [await open(path.join(dir, readConfig(dir).scorer)), await open()];
  return scorings.filter((scoring) => scoring !== undefined);
}
