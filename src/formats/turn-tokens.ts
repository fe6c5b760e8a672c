/** The tokens of each turn, for formats that keep them with the turn and not in rows. */

import type { TokenRow } from "../core/token-row.ts";
import type { Trajectory } from "../core/trajectory.ts";
import type { AssistantMessage } from "./chat.ts";

export interface TurnTokens {
  /** Everything that the policy had read or written before it in the row. */
  readonly prompt: readonly number[];
  /** Those that were read since the turn before it in the row. */
  readonly read: readonly number[];
  readonly written: readonly number[];
  /** Whether a row begins with this turn. */
  readonly first: boolean;
}

export function turnsOf({ messages }: Pick<Trajectory, "messages">): AssistantMessage[] {
  return messages.filter((message) => message.role === "assistant");
}

/** One for each turn; undefined where they are not known, or rows and turns do not agree. */
export function turnTokens(trajectory: Trajectory): TurnTokens[] | undefined {
  const { segments } = trajectory;
  if (segments === null) return undefined;
  const found = segments.flatMap(({ tokens, actions }) =>
    actions.map(([from, to], i) => ({
      prompt: tokens.slice(0, from),
      read: tokens.slice(i === 0 ? 0 : actions[i - 1]?.[1], from),
      written: tokens.slice(from, to),
      first: i === 0,
    })),
  );
  const turns = turnsOf(trajectory);
  const agree =
    found.length === turns.length &&
    found.every(({ written }, i) => sameNumbers(written, turns[i]?.sampled.token_ids ?? null));
  return agree ? found : undefined;
}

/** Rows from turns: one that begins with all of the row before it goes on with it. */
export function rowsOf(turns: readonly Pick<TurnTokens, "prompt" | "written">[]): TokenRow[] {
  const rows: { tokens: number[]; actions: [number, number][] }[] = [];
  for (const { prompt, written } of turns) {
    const tokens = [...prompt, ...written];
    const action: [number, number] = [prompt.length, tokens.length];
    const row = rows.at(-1);
    if (row && sameNumbers(row.tokens, prompt.slice(0, row.tokens.length))) {
      row.tokens = tokens;
      row.actions.push(action);
    } else rows.push({ tokens, actions: [action] });
  }
  return rows;
}

function sameNumbers(a: readonly number[], b: readonly number[] | null): boolean {
  return b !== null && a.length === b.length && a.every((value, i) => value === b[i]);
}
