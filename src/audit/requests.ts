/** The requests of an audit: each pair in both orders and again, copies with probes, and groups. */

import type { GroupToJudge, JudgedMessage } from "../core/judge.ts";
import { rngAt, shuffled } from "../core/rng.ts";
import type { AuditProbe } from "../runs/judge-audit-schema.ts";
import type { Attempt, LabelledData, LabelledGroup, LabelledPair } from "./labelled.ts";
import { INJECTIONS, neutralText, type ProbeWording, SELF_PRAISE } from "./probe-texts.ts";

interface NamedAttempt {
  readonly name: string;
  /** Null for copies, which no label is about. */
  readonly worth: number | null;
  readonly messages: Attempt;
}

export interface AuditRequest {
  readonly id: string;
  readonly probe: AuditProbe;
  readonly wording?: string;
  /** In the order of the request. */
  readonly attempts: readonly NamedAttempt[];
  readonly group: GroupToJudge;
}

export function* auditRequests(
  { pairs, groups }: Pick<LabelledData, "pairs" | "groups">,
  seed: number,
): Generator<AuditRequest, void, void> {
  for (const [i, pair] of pairs.entries()) yield* requestsOfPair(pair, i, seed);
  for (const group of groups) yield requestOfGroup(group, seed);
}

export const REQUESTS_OF_PAIR = 6;

/** How many there are, without making them. */
export function countRequests({ pairs, groups }: Pick<LabelledData, "pairs" | "groups">): number {
  return REQUESTS_OF_PAIR * pairs.length + groups.length;
}

function* requestsOfPair(pair: LabelledPair, i: number, seed: number): Generator<AuditRequest> {
  const { id, tools, better, worse } = pair;
  const best: NamedAttempt = { name: "better", worth: 1, messages: better };
  const other: NamedAttempt = { name: "worse", worth: 0, messages: worse };
  const order = (probe: AuditProbe, attempts: readonly NamedAttempt[]) =>
    shuffled(attempts, rngAt(seed, "judge-audit", probe, id));
  const asked = (
    probe: AuditProbe,
    attempts: readonly NamedAttempt[],
    more: { readonly repeat?: number; readonly wording?: string } = {},
  ): AuditRequest => {
    const { repeat, wording } = more;
    return {
      ...{ id, probe, attempts, ...(wording !== undefined && { wording }) },
      group: { id, tools, attempts: attempts.map(({ messages }) => messages), repeat },
    };
  };
  const compared = (probe: AuditProbe, control: Attempt, copy: Attempt, wording?: string) =>
    asked(
      probe,
      order(probe, [
        best,
        { name: "control", worth: null, messages: control },
        { name: "probe", worth: null, messages: copy },
      ]),
      wording === undefined ? {} : { wording },
    );
  const worded = (probe: AuditProbe, wordings: readonly ProbeWording[]) => {
    const { name, text, control } = wordings[i % wordings.length] as ProbeWording;
    return compared(probe, extended(worse, control), extended(worse, text), name);
  };
  const shown = order("pair", [best, other]);
  yield asked("pair", shown);
  yield asked("swapped", shown.toReversed());
  yield asked("repeated", shown, { repeat: 1 });
  yield compared("length", worse, extended(worse, neutralText(lastSaid(worse), i)));
  yield worded("self_praise", SELF_PRAISE);
  yield worded("injection", INJECTIONS);
}

function requestOfGroup({ id, attempts, worth, tools }: LabelledGroup, seed: number): AuditRequest {
  const named = attempts.map((messages, i) => ({
    ...{ name: String(i + 1), messages },
    worth: worth[i] ?? null,
  }));
  const shown = shuffled(named, rngAt(seed, "judge-audit", "group", id));
  return {
    ...{ id, probe: "group", attempts: shown },
    group: { id, tools, attempts: shown.map(({ messages }) => messages) },
  };
}

/** The text of a turn with calls is not shown to a judge. */
const isSpoken = ({ role, tool_calls: calls }: JudgedMessage) =>
  role === "assistant" && !calls?.length;

/** What the policy said last. */
export function lastSaid(attempt: Attempt): string {
  return attempt.findLast(isSpoken)?.content ?? "";
}

/** The attempt with a text added to what the policy said last. */
function extended(attempt: Attempt, text: string): Attempt {
  const last = attempt.findLastIndex(isSpoken);
  if (last < 0) return [...attempt, { role: "assistant", content: text }];
  return attempt.map((message, i) =>
    i === last ? { ...message, content: `${message.content} ${text}`.trim() } : message,
  );
}
