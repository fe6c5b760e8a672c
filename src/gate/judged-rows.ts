/**
 * Reads the scores of a judged run again from the judge's answers, and plays its episodes again where
 * their environment is embedded: a row that was edited together with all hashes is found.
 */

import { ENVIRONMENT_ERROR } from "../core/environment.ts";
import type { Judgement } from "../core/judge.ts";
import { conversationSha256 } from "../core/judged-conversation.ts";
import { INDEPENDENT_REWARD } from "../core/judged-trajectory.ts";
import { preference } from "../core/preference.ts";
import { isFields } from "../core/records.ts";
import { actionsOf } from "../core/replay.ts";
import { MISSING_COMPLETION, SCORER_ERROR } from "../core/score.ts";
import { JUDGEMENTS } from "../runs/artifacts.ts";
import type { JsonlFile } from "../runs/jsonl.ts";
import type { GroupJudgement, Side } from "../runs/judge-schemas.ts";
import { judgementsOf, readJudgements } from "../runs/read-judgements.ts";
import type { Run } from "../runs/reader.ts";
import { RowCursor } from "../runs/rows.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { openRowReplay, type RowReplay } from "./replay-rows.ts";
import type { Differing, RowCheck } from "./row-check.ts";

const BATCH_ROWS = 64;
const FIRST_IDS = 5;

type Attempts = GroupJudgement["attempts"];

/** A group of the file with the scores that its answer gives. */
interface ReadGroup {
  readonly id: string;
  readonly attempts: Attempts;
  readonly dropped: boolean;
  readonly judgements: readonly Judgement[];
  /** Attempts of this side that no row has yet. */
  readonly waiting: Set<number>;
}

const OTHER: Record<Side, Side> = { baseline: "candidate", candidate: "baseline" };

export class JudgedRows implements RowCheck {
  readonly words = {
    code: "scores_differ_from_judgements",
    message: `The scores were read again from the judge's answers in ${JUDGEMENTS}, and a run has scores, codes or conversations that these do not give. Judge the rollouts again.`,
  };
  readonly #side: Side;
  readonly #file: JsonlFile<GroupJudgement>;
  readonly #lines: RowCursor<GroupJudgement>;
  readonly #hash: string | undefined;
  readonly #replay: RowReplay | undefined;
  #group: ReadGroup | undefined;
  /** Read, and not yet met by a row. */
  #ahead: GroupJudgement | undefined;
  #pending: ResultRow[] = [];
  readonly #ids = new Set<string>();
  #rows = 0;

  constructor({ dir, summary }: Run, side: Side, replay: RowReplay | undefined) {
    this.#side = side;
    this.#file = readJudgements(dir);
    this.#lines = new RowCursor(this.#file);
    this.#hash = summary.files[JUDGEMENTS];
    this.#replay = replay;
  }

  get differing(): Differing | null {
    const replayed = this.#replay?.differing;
    const rows = this.#rows + (replayed?.rows ?? 0);
    const ids = [...new Set([...this.#ids, ...(replayed?.first_ids ?? [])])];
    return rows === 0 ? null : { rows, first_ids: ids.slice(0, FIRST_IDS) };
  }

  add(row: ResultRow): boolean {
    return this.#pending.push(row) >= BATCH_ROWS;
  }

  async settle(): Promise<void> {
    const rows = this.#pending;
    this.#pending = [];
    for (const row of rows) {
      if (!isTrue(row, this.#side, await this.#groupOf(row))) this.#differs(row.id);
      if (this.#replay?.add(asPlayed(row))) await this.#replay.settle();
    }
  }

  async finish(): Promise<void> {
    await this.settle();
    await this.#replay?.finish();
    this.#endGroup();
    // What was judged has rows, and the file is the one that the summary names.
    for (;;) {
      const left = await this.#line();
      if (!left) break;
      this.#differs(left.id);
      this.#ahead = undefined;
    }
    await this.#lines.close();
    if (this.#file.sha256 !== this.#hash) this.#differs(JUDGEMENTS);
  }

  #differs(id: string): void {
    this.#rows++;
    this.#ids.add(id);
  }

  /** Groups come in the order of the tasks; a task without whole pairs has none. */
  async #groupOf({ id, sample = 0 }: ResultRow): Promise<ReadGroup | undefined> {
    if (this.#group?.id !== id) {
      this.#endGroup();
      const line = await this.#line();
      if (line?.id !== id) return undefined;
      this.#group = this.#read(line);
      this.#ahead = undefined;
    }
    this.#group.waiting.delete(sample);
    return this.#group;
  }

  #endGroup(): void {
    if (this.#group && this.#group.waiting.size > 0) this.#differs(this.#group.id);
    this.#group = undefined;
  }

  #read(line: GroupJudgement): ReadGroup {
    const { id, attempts, dropped } = line;
    const own = attempts.filter(({ side }) => side === this.#side);
    return {
      ...{ id, attempts, dropped: dropped !== undefined, judgements: judgementsOf(line) ?? [] },
      waiting: new Set(own.map(({ sample }) => sample)),
    };
  }

  async #line(): Promise<GroupJudgement | undefined> {
    this.#ahead ??= this.#lines.buffered() ?? (await this.#lines.read());
    return this.#ahead;
  }
}

function isTrue(row: ResultRow, side: Side, group: ReadGroup | undefined): boolean {
  const { episode, reward, outcome_code: code } = row;
  const placeOf = (which: Side) =>
    group?.attempts.findIndex((one) => one.side === which && one.sample === (row.sample ?? 0)) ??
    -1;
  const own = placeOf(side);
  if (!group || own < 0) return isUnjudged(row);
  if (!episode || conversationSha256(episode.messages) !== group.attempts[own]?.sha256)
    return false;
  if (actionsOf(episode.messages).join("\n") !== row.completion) return false;
  const { message, environment } = isFields(row.details) ? row.details : {};
  const independent = isFields(environment) ? environment.reward : undefined;
  if ((episode.metrics[INDEPENDENT_REWARD] ?? null) !== independent) return false;
  if (group.dropped) return reward === null && code === SCORER_ERROR;
  const [judged, other] = [group.judgements[own], group.judgements[placeOf(OTHER[side])]];
  if (!judged || !other || message !== judged.explanation) return false;
  return reward === judged.score && code === preference(judged.score, other.score);
}

/** Nothing was judged: no episode, or one whose environment broke. */
function isUnjudged({ reward, outcome_code: code, completion }: ResultRow): boolean {
  if (reward !== null) return false;
  return code === ENVIRONMENT_ERROR || (code === MISSING_COMPLETION && completion === null);
}

/** The row as its environment gave it, which can be played again. */
export function asPlayed(row: ResultRow): ResultRow {
  const { episode, details } = row;
  const environment = isFields(details) ? details.environment : undefined;
  if (!episode || !isFields(environment)) return row;
  const { reward, code, passed, details: given } = environment;
  const { [INDEPENDENT_REWARD]: _, ...metrics } = episode.metrics;
  return {
    ...row,
    reward: typeof reward === "number" ? reward : null,
    outcome_code: String(code),
    passed: passed === true,
    details: (given ?? {}) as ResultRow["details"],
    episode: { ...episode, metrics },
  };
}

/** For a run that was judged together with another; what was not is refused for that reason. */
export async function openJudgedRows(run: Run): Promise<JudgedRows | undefined> {
  const { judge } = run.manifest;
  if (!judge?.together) return undefined;
  return new JudgedRows(run, judge.together.side, await openRowReplay(run.manifest));
}
