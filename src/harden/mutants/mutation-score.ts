/**
 * The mutation score of golden rows: each rule of the scorer is changed, one at a time, and the
 * rows either notice or do not. A mutant that no row notices is searched for a completion whose
 * reward it changes; without one it may be equivalent, and does not count.
 */

import { LockedRoomError } from "../../core/errors.ts";
import { sha256 } from "../../core/fingerprint.ts";
import type { CheckedScore, ScoreRequest } from "../../core/score.ts";
import type { EditableFile, EditableModule, Edited } from "../../extensions/editable.ts";
import type { HardenMutant, HardenReport } from "../../runs/harden-report.ts";
import { Guard } from "../../scorers/guard.ts";
import { toScorer } from "../../scorers/load.ts";
import { type SourceEdit, sourceEdits } from "./operators.ts";

export interface SuiteRow extends ScoreRequest {
  readonly expected_reward: number;
}

export interface MutationOptions {
  readonly module: EditableModule;
  /** How many of its files are changed; the first is the scorer's own. */
  readonly files: number;
  readonly suite: readonly SuiteRow[];
  /** Completions to look for a witness among, with the scores of the scorer itself. */
  readonly probes: readonly { readonly request: ScoreRequest; readonly score: CheckedScore }[];
  /** Mutants that a person accepted as equivalent. */
  readonly accepted: ReadonlySet<string>;
  readonly timeoutMs: number;
  readonly onMutant?: ((done: number, all: number) => void) | undefined;
  /** Told how many rows a mutant scored. */
  readonly onScored?: ((rows: number) => void) | undefined;
}

type Mutation = NonNullable<HardenReport["mutation"]>;

export async function mutationScore(options: MutationOptions): Promise<Mutation> {
  const all = options.module.files.slice(0, options.files).flatMap(mutantsOf);
  const mutants: HardenMutant[] = [];
  for (const [index, mutant] of all.entries()) {
    mutants.push(await outcomeOf(mutant, options));
    options.onMutant?.(index + 1, all.length);
  }
  const count = (outcome: HardenMutant["outcome"]) =>
    mutants.filter((mutant) => mutant.outcome === outcome).length;
  const [killed, survived] = [count("killed"), count("survived")];
  return {
    golden_rows: options.suite.length,
    probes: options.probes.length,
    ...{
      killed,
      survived,
      code_only: count("code_only"),
      silent: count("silent"),
      accepted: count("accepted"),
      refused: count("refused"),
    },
    does_not_load: count("does_not_load"),
    score: killed + survived === 0 ? null : killed / (killed + survived),
    mutants,
  };
}

interface Mutant extends Pick<HardenMutant, "mutant" | "operator" | "line" | "before" | "after"> {
  readonly file: EditableFile;
  readonly text: string;
  readonly acceptedHere: boolean;
}

/** A comment `harden: accept` on the line accepts its mutants. */
const ACCEPT = /\bharden:\s*accept\b/;

function mutantsOf(file: EditableFile): Mutant[] {
  const seen = new Map<string, number>();
  return unique(file, sourceEdits(file)).map((edit) => {
    const text = file.text.slice(0, edit.start) + edit.text + file.text.slice(edit.end);
    const [before, after] = changedLines(file.text, text, edit);
    const line = file.text.slice(0, edit.start).split("\n").length;
    const key = [file.name, edit.operator, before, after].join("\n");
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    const mutant = sha256(`${key}\n${times}`).slice(0, 10);
    const whole = file.text.split("\n")[line - 1] ?? "";
    return {
      ...{ file, text, line, before, after, mutant },
      operator: edit.operator,
      acceptedHere: ACCEPT.test(whole),
    };
  });
}

function unique({ text }: EditableFile, edits: readonly SourceEdit[]): SourceEdit[] {
  const seen = new Map<string, SourceEdit>();
  for (const edit of edits) {
    const made = JSON.stringify([edit.start, edit.end, edit.text]);
    if (!seen.has(made) && text.slice(edit.start, edit.end) !== edit.text) seen.set(made, edit);
  }
  return [...seen.values()];
}

/** The lines that the edit touches, before and after. */
function changedLines(
  before: string,
  after: string,
  { start, end, text }: SourceEdit,
): [string, string] {
  const from = before.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = (source: string, at: number) => {
    const found = source.indexOf("\n", at);
    return found < 0 ? source.length : found;
  };
  return [
    before.slice(from, lineEnd(before, end)).trim(),
    after.slice(from, lineEnd(after, start + text.length)).trim(),
  ];
}

async function outcomeOf(mutant: Mutant, options: MutationOptions): Promise<HardenMutant> {
  const { file, text, acceptedHere, ...shown } = mutant;
  const result = (
    outcome: HardenMutant["outcome"],
    more: Partial<Pick<HardenMutant, "killed_by" | "witness">> = {},
  ): HardenMutant => ({
    ...shown,
    file: file.name,
    outcome,
    killed_by: null,
    witness: null,
    ...more,
  });
  const loaded = await options.module.load(file, text);
  if (typeof loaded === "string") return result(loaded);
  const scorer = guarded(loaded, file.name, options.timeoutMs);
  if (!scorer) return result("does_not_load");
  const killed_by = await killedBy(scorer, options);
  if (scorer.refused !== undefined) return result("refused");
  if (killed_by !== null) return result("killed", { killed_by });
  if (acceptedHere || options.accepted.has(mutant.mutant)) return result("accepted");
  const { witness, otherCode } = await witnessOf(scorer, options);
  if (scorer.refused !== undefined) return result("refused");
  if (witness) return result("survived", { witness });
  return result(otherCode ? "code_only" : "silent");
}

/** Undefined where the edit left no scorer. */
function guarded(
  { exports, sight }: Exclude<Edited, string>,
  name: string,
  timeoutMs: number,
): Guard | undefined {
  try {
    const scorer = toScorer(exports, name);
    return new Guard({ scorer, again: scorer, trusted: false, sight }, timeoutMs, 1, {
      ...{ scoreOnce: true, confined: true },
    });
  } catch (error) {
    if (error instanceof LockedRoomError) return undefined;
    throw error;
  }
}

/** Few rows at a time: most mutants are noticed early, and one that hangs is tried three times. */
const AT_ONCE = 32;

async function killedBy(
  scorer: Guard,
  { suite, onScored }: MutationOptions,
): Promise<number | null> {
  for (let from = 0; from < suite.length; from += AT_ONCE) {
    const rows = suite.slice(from, from + AT_ONCE);
    const scores = await scorer.scoreBatch(rows);
    onScored?.(rows.length);
    const at = rows.findIndex((row, i) => scores[i]?.reward !== row.expected_reward);
    if (at >= 0) return from + at + 1;
  }
  return null;
}

/** A completion with another reward; otherwise whether any gets another code. */
async function witnessOf(
  scorer: Guard,
  { probes, onScored }: MutationOptions,
): Promise<{ witness: HardenMutant["witness"]; otherCode: boolean }> {
  let otherCode = false;
  for (let from = 0; from < probes.length; from += 256) {
    const some = probes.slice(from, from + 256);
    const scores = await scorer.scoreBatch(some.map(({ request }) => request));
    onScored?.(some.length);
    for (const [i, { request, score }] of some.entries()) {
      const { reward, code } = scores[i] as CheckedScore;
      otherCode ||= code !== score.code;
      if (reward === score.reward) continue;
      const { example, completion } = request;
      const witness = {
        id: example.id,
        completion,
        reward: score.reward,
        reward_of_mutant: reward,
      };
      return { witness, otherCode };
    }
  }
  return { witness: null, otherCode };
}
