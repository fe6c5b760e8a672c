/**
 * Whether a run counts as evidence: as its command wrote it, under its own name, every row scored, and
 * with rewards that its scorer gives again. Hashes can be adjusted to edited rewards; a scorer cannot.
 */

import path from "node:path";
import {
  type Example,
  type GuardedScorer,
  type Json,
  MISSING_COMPLETION,
  messageOf,
  SCORER_ERROR,
  type ScoreRequest,
  toExample,
} from "../core/index.ts";
import { editedFiles, openRowReplay } from "../gate/index.ts";
import { type InputEntry, JsonlFile, type ResultRow, type Run } from "../runs/index.ts";
import { openScorer } from "../scorers/index.ts";
import { readConfig } from "./workspace.ts";
import { fileSha256, memoize, realInside } from "./workspace-files.ts";

export interface Verification {
  /** Why the run is not evidence. */
  readonly problem?: string | undefined;
  /** Why its rows were not scored again. */
  readonly skipped?: string | undefined;
}

/** What a row says of one completion. */
interface Claim extends ScoreRequest {
  readonly reward: number | null;
  readonly code: string;
}

const MAX_CONFIRMED = 100_000;

/** Verifies the runs of a workspace. */
export class RunVerifier {
  readonly #scorers: WorkspaceScorers;
  /** Claims that were confirmed: runs over the same data repeat most of them. */
  readonly #confirmed = new Set<string>();

  constructor(dir: string) {
    this.#scorers = new WorkspaceScorers(dir);
  }

  async verify(run: Run): Promise<Verification> {
    try {
      const problem = await problemOfRun(run);
      return problem === undefined ? await this.#rescore(run) : { problem };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  }

  async #rescore({ manifest, results }: Run): Promise<Verification> {
    if (manifest.loop === "C") return { skipped: "Loop C rows have no scorer" };
    if (manifest.environment !== undefined) return replay({ manifest, results });
    const { source_sha256 } = manifest.scorer;
    const scoring = await this.#scorers.scorer({ source_sha256 });
    if (!scoring) return { skipped: "another version of the scorer" };
    const input = manifest.inputs.find(({ role }) => role === "dataset");
    const examples = input && (await this.#scorers.examples(input));
    if (!examples) return { skipped: "its data set is not here" };
    const prefix = `${source_sha256} ${input.sha256}`;
    for await (const rows of results().batches()) {
      const found = await this.#rescoreRows(scoring, examples, rows, prefix);
      if (found) return found;
    }
    return {};
  }

  /** The first completion that the scorer scores otherwise. */
  async #rescoreRows(
    scoring: GuardedScorer,
    examples: Examples,
    rows: readonly ResultRow[],
    prefix: string,
  ): Promise<Verification | undefined> {
    const open = new Map<string, Claim>();
    for (const row of rows) {
      const example = examples.get(row.id);
      if (!example) return { problem: `${row.id} is not in its data set.` };
      for (const { completion, reward, outcome_code: code } of row.samples ?? [row]) {
        if (completion === null) continue;
        const key = JSON.stringify([prefix, row.id, completion, reward, code]);
        if (!this.#confirmed.has(key)) open.set(key, { example, completion, reward, code });
      }
    }
    const claims = [...open.values()];
    const scores = await scoring.scoreBatch(claims);
    const at = claims.findIndex(
      ({ reward, code }, i) => reward !== scores[i]?.reward || code !== scores[i]?.code,
    );
    const [then, now] = [claims[at], scores[at]];
    if (now?.code === SCORER_ERROR) return { skipped: "the scorer fails on them now" };
    if (then && now) return { problem: `It was edited: ${then.example.id} ${changed(then, now)}.` };
    if (this.#confirmed.size > MAX_CONFIRMED) this.#confirmed.clear();
    for (const key of open.keys()) this.#confirmed.add(key);
    return undefined;
  }
}

type Scored = Pick<Claim, "reward" | "code">;

export function changed(then: Scored, now: Scored): string {
  return `has ${then.code} with ${then.reward}, and its scorer gives ${now.code} with ${now.reward}`;
}

/** Episodes are played again; only an embedded environment is certain to be the one of the run. */
async function replay({ manifest, results }: Pick<Run, "manifest" | "results">) {
  const replaying = await openRowReplay(manifest);
  if (!replaying) return { skipped: "its environment is not embedded, or has other code now" };
  try {
    for await (const rows of results().batches())
      for (const row of rows) if (replaying.add(row)) await replaying.settle();
  } finally {
    await replaying.finish();
  }
  const [id] = replaying.differing?.first_ids ?? [];
  return id === undefined
    ? {}
    : { problem: `It was edited: ${id} is not what its environment gives.` };
}

async function problemOfRun(run: Run): Promise<string | undefined> {
  const [edited] = await editedFiles(run);
  if (edited !== undefined) return `It was edited: ${edited} is not what was written with the run.`;
  const original = copiedFrom(run);
  if (original !== undefined) return `It was made as ${original}, then copied or renamed.`;
  return unscored(run) ?? (await alarm(run));
}

/** The name under which a run was made, when its folder has another. */
export function copiedFrom({ dir, manifest }: Run): string | undefined {
  const { folder } = manifest.volatile;
  return folder === path.basename(dir) ? undefined : folder;
}

function unscored({ summary: { metrics, outcomes } }: Run): string | undefined {
  const { n_examples: rows, n_scored: scored } = metrics;
  const missing = outcomes.counts[MISSING_COMPLETION] ?? 0;
  if (missing > 0) return `${missing} of its ${rows} rows have no completion.`;
  const failed = Math.max(outcomes.counts[SCORER_ERROR] ?? 0, rows - scored);
  if (failed > 0) return `The scorer failed on ${failed} of its ${rows} rows.`;
  return scored === 0 ? "It has no scored row." : undefined;
}

/** The first alarm of the run; of a selection, its rows are read as well. */
async function alarm(run: Run): Promise<string | undefined> {
  const [first] = run.summary.alarms;
  if (first || run.manifest.loop !== "B") return first?.message;
  for await (const batch of run.results().batches())
    if (batch.some(({ unstable }) => unstable)) return "Its selection was not deterministic.";
  return undefined;
}

// --- scorers and data sets -------------------------------------------------------------------------

/** `path` is where the scorer was, for one that is neither the workspace's nor built in. */
type Identity = { readonly source_sha256?: Json; readonly path?: Json };
/** `path` is null for rows that came from memory. */
type Input = Pick<InputEntry, "path" | "sha256">;

export type Examples = ReadonlyMap<string, Example>;

/** The scorers and data sets of a workspace, opened when they are first needed. */
export class WorkspaceScorers {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The scorer with this code; undefined where that version is not here. */
  readonly scorer = memoize(
    (identity: Identity) => this.#find(identity),
    ({ source_sha256: source, path: named }) => `${source} ${named}`,
  );

  /** A data set with this hash, in its order; undefined where it is not here. */
  readonly examples = memoize(
    (input: Input) => this.#read(input),
    ({ sha256 }) => sha256,
  );

  async #find({
    source_sha256: source,
    path: named,
  }: Identity): Promise<GuardedScorer | undefined> {
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

  /** A manifest has the path as it was typed; in a moved workspace the part from `data/` is right. */
  async #read({ path: named, sha256 }: Input): Promise<Examples | undefined> {
    if (named === null) return undefined;
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
