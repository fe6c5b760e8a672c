/**
 * Plays a run's episodes again where their environment is embedded and unchanged: rewards that were
 * edited together with all hashes are found.
 */

import { type PlayableEnvironment, SPLITS } from "../core/environment.ts";
import { canonicalJson } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import {
  actionsOf,
  disagreement,
  isBroken,
  type Replayed,
  replayEpisodes,
  replayRequest,
} from "../core/replay.ts";
import { isSolved, MISSING_COMPLETION } from "../core/score.ts";
import type { Manifest, ResultRow, RowEpisode } from "../runs/schemas.ts";
import type { Differing, RowCheck } from "./row-check.ts";

/** Few: a game may have hundreds of turns. */
const BATCH_ROWS = 32;
const FIRST_IDS = 5;

type EpisodeRow = ResultRow & { readonly episode: RowEpisode };

/** By row, what is not as its environment gives it; undefined where all is. */
export async function untrueRows(
  { environment, solved }: PlayableEnvironment,
  rows: readonly { readonly row: ResultRow; readonly task: Example | undefined }[],
): Promise<(Untrue | undefined)[]> {
  const known = rows.flatMap(({ row, task }) =>
    isEpisode(row) && task && task.prompt === row.prompt ? [replayRequest(task, row.episode)] : [],
  );
  const replayed = (await replayEpisodes(environment, known)).values();
  return rows.map(({ row, task }) => {
    if (!task) return { what: "id", expected: "a task of the environment", found: row.id };
    if (task.prompt !== row.prompt)
      return { what: "prompt", expected: task.prompt, found: row.prompt };
    if (!isEpisode(row)) return untrueWithoutEpisode(row);
    return untrue(row, replayed.next().value as Replayed, solved);
  });
}

/** Without an episode nothing was played, so there is nothing to reward. */
function untrueWithoutEpisode(row: ResultRow): Untrue | undefined {
  const { outcome_code, reward, completion, passed = false } = row;
  const expected = {
    ...{ outcome_code: MISSING_COMPLETION, reward: null, completion: null, passed: false },
  };
  const found = { outcome_code, reward, completion, passed };
  if (canonicalJson(found) === canonicalJson(expected)) return undefined;
  return { what: "episode", expected, found };
}

function recordedOf({ reward, outcome_code: code, episode }: EpisodeRow) {
  const { address, messages, terminated, metrics } = episode;
  return { address, messages, terminated, metrics, reward, code };
}

/** A part of a row that the environment does not give. */
interface Untrue {
  readonly what: string;
  readonly expected: unknown;
  readonly found: unknown;
}

function untrue(
  row: EpisodeRow,
  replayed: Replayed,
  solved: readonly string[],
): Untrue | undefined {
  const recorded = recordedOf(row);
  if (isBroken(recorded, replayed))
    return row.reward === null ? undefined : { what: "reward", expected: null, found: row.reward };
  const other = disagreement(recorded, replayed);
  if (other) {
    const what = other.turn === undefined ? other.what : `${other.what} of turn ${other.turn}`;
    return { what, expected: other.replayed, found: other.recorded };
  }
  const { reward, outcome_code: code } = row;
  const { turns, ...metrics } = replayed.metrics;
  const pairs: readonly (readonly [what: string, expected: unknown, found: unknown])[] = [
    ["completion", actionsOf(row.episode.messages).join("\n"), row.completion],
    ["passed", isSolved({ reward, code }, solved), row.passed],
    ["details", replayed.end?.details ?? {}, row.details],
    ["turns", turns, row.episode.turns],
    ["metrics", metrics, row.episode.metrics],
  ];
  const differing = pairs.find(([, is, said]) => canonicalJson(is) !== canonicalJson(said ?? null));
  return differing && { what: differing[0], expected: differing[1], found: differing[2] };
}

function isEpisode(row: ResultRow): row is EpisodeRow {
  return row.episode !== undefined;
}

export class RowReplay implements RowCheck {
  readonly #environment: PlayableEnvironment;
  readonly #tasks: ReadonlyMap<string, Example>;
  #pending: ResultRow[] = [];
  #rows = 0;
  readonly #firstIds: string[] = [];

  constructor(environment: PlayableEnvironment, tasks: readonly Example[]) {
    this.#environment = environment;
    this.#tasks = new Map(tasks.map((task) => [task.id, task]));
  }

  get differing(): Differing | null {
    return this.#rows === 0 ? null : { rows: this.#rows, first_ids: this.#firstIds };
  }

  add(row: ResultRow): boolean {
    return this.#pending.push(row) >= BATCH_ROWS;
  }

  async settle(): Promise<void> {
    const rows = this.#pending.map((row) => ({ row, task: this.#tasks.get(row.id) }));
    this.#pending = [];
    for (const [i, why] of (await untrueRows(this.#environment, rows)).entries()) {
      if (why === undefined) continue;
      this.#rows++;
      if (this.#firstIds.length < FIRST_IDS) this.#firstIds.push(rows[i]?.row.id as string);
    }
  }

  async finish(): Promise<void> {
    await this.settle();
    await this.#environment.close();
  }
}

type WithEnvironment = Pick<Manifest, "environment" | "split">;

/**
 * The embedded environment that the episodes are of, if its code is here and unchanged; a manifest may
 * state any path and split.
 */
export async function openRowReplay(manifest: WithEnvironment): Promise<RowReplay | undefined> {
  const { environment, split } = manifest;
  if (!environment) return undefined;
  const opened = await openEmbedded(environment.name);
  if (opened?.environment.identity.source_sha256 !== environment.source_sha256) return undefined;
  const splits = split === undefined ? SPLITS : SPLITS.filter((one) => one === split);
  const tasks = await Promise.all(splits.map((one) => opened.tasks(one)));
  return new RowReplay(opened, tasks.flat());
}

/** Says where the episodes are of an embedded environment whose code is not the one here. */
export async function otherEnvironment({ environment }: WithEnvironment): Promise<string[]> {
  if (environment?.path !== null) return [];
  const opened = await openEmbedded(environment.name);
  if (!opened || opened.environment.identity.source_sha256 === environment.source_sha256) return [];
  return [
    `The rewards could not be checked: the environment ${environment.name} ${environment.version} has other code now than when the episodes were evaluated. Evaluate again to have them checked.`,
  ];
}

async function openEmbedded(name: string): Promise<PlayableEnvironment | undefined> {
  // Loaded lazily: most gates are about scored rows.
  const { EMBEDDED } = await import("../environments/catalogue.ts");
  if (!EMBEDDED.has(name)) return undefined;
  const { openPlayable } = await import("../environments/playable.ts");
  return openPlayable(name);
}
