/**
 * A policy becomes what an alias names only with a verdict of the gate: one that the runs still give,
 * about this policy by content, against the policy that the alias names now. Whoever forces it says why.
 */

import { dataError, LockedRoomError, usageError } from "../core/errors.ts";
import { isCheckpoint } from "../core/policy.ts";
import { describePolicy, isSamePolicy } from "../core/same-policy.ts";
import { differenceOf } from "../gate/words.ts";
import type { AliasEntry } from "../runs/alias-entry.ts";
import {
  type AliasPlace,
  addEntry,
  type NewEntry,
  readAlias,
  recordedSource,
  sourceOf,
} from "../runs/alias-history.ts";
import type { LocatedPolicy } from "../runs/aliased-policy.ts";
import type { GateReport } from "../runs/gate-report.ts";
import { openRun, type Run } from "../runs/reader.ts";
import { type ReadVerdict, readVerdict, repeatVerdict } from "./verdict.ts";

export interface PromoteOptions {
  readonly place: AliasPlace;
  readonly policy: LocatedPolicy;
  /** The file that `gate --report` wrote. */
  readonly verdict?: string | undefined;
  readonly reason?: string | undefined;
  /** Promote although a condition is not met; needs a reason, and both are recorded. */
  readonly force?: boolean | undefined;
  /** What depends on the alias; kept from the entry before where absent. */
  readonly usedBy?: readonly string[] | undefined;
  readonly traffic?: number | undefined;
}

export async function promote(options: PromoteOptions): Promise<AliasEntry> {
  const { place, policy, reason, force = false } = options;
  if (force && !reason?.trim())
    throw usageError("--force needs --reason", "Say why; the history keeps it.");
  const unmet = new Unmet(force);
  const verdict = await unmet.require(() => acceptedVerdict(options));
  return adding(place, async (entries) => {
    const current = entries.at(-1);
    const now = new Unmet(force, unmet.found);
    await now.require(async () => requireOther(place, policy, current));
    if (verdict) {
      await now.require(async () => requireNoLoss(verdict));
      await now.require(async () => requireBaseline(verdict, place, current));
    }
    return {
      action: "promote",
      policy: policy.identity,
      source: recordedSource(place, policy.source),
      rollback_to: current?.number ?? null,
      reason: reason ?? null,
      forced: now.found.length > 0 ? now.found.join("; ") : null,
      verdict: verdict?.record ?? null,
      stated: {
        used_by: [...(options.usedBy ?? current?.stated.used_by ?? [])],
        traffic: options.traffic ?? current?.stated.traffic ?? null,
      },
    };
  });
}

/** Conditions that are not met: an error, or with force a record of them. */
class Unmet {
  readonly found: string[];
  readonly #force: boolean;

  constructor(force: boolean, found: readonly string[] = []) {
    this.#force = force;
    this.found = [...found];
  }

  /** What the check returns; undefined where it failed and force is set. */
  async require<T>(check: () => Promise<T>): Promise<T | undefined> {
    try {
      return await check();
    } catch (error) {
      if (!this.#force || !(error instanceof LockedRoomError)) throw error;
      this.found.push(error.message);
      return undefined;
    }
  }
}

interface AcceptedVerdict {
  readonly record: NonNullable<AliasEntry["verdict"]>;
  readonly baseline: Run;
}

async function acceptedVerdict({
  verdict: file,
  policy,
}: PromoteOptions): Promise<AcceptedVerdict> {
  if (file === undefined) {
    throw usageError(
      "there is no verdict of the gate",
      "Write one with gate --report FILE and give it as --verdict FILE, or use --force with --reason.",
    );
  }
  const verdict = await readVerdict(file);
  requireDecision(verdict);
  const { report, sha256 } = verdict;
  const candidate = await openRun(report.candidate.run);
  requireCandidate(verdict, candidate, policy);
  const found = await repeatVerdict(verdict);
  return {
    baseline: await openRun(report.baseline.run),
    record: { sha256, ...figuresOf(found) },
  };
}

/** The entry keeps what decided, because the file and the runs may be gone when it is read. */
function figuresOf(found: GateReport): Omit<AcceptedVerdict["record"], "sha256"> {
  const { decision, claim, alpha, min_delta, margin, delta, ci, allowed, axes } = found;
  return {
    ...{ decision, baseline: found.baseline.run, candidate: found.candidate.run },
    ...{ claim, alpha, min_delta, ...(margin !== undefined && { margin }), delta, ci },
    ...(allowed && { allowed }),
    ...(axes && {
      axes: axes.values.map(({ name, margin, delta, ci, state }) => ({
        ...{ name, margin, delta, ci, state },
      })),
    }),
  };
}

/** A margin may be so wide that a shown loss passes; whether to accept that loss is not the gate's question. */
function requireNoLoss({ record: { delta, ci, margin } }: AcceptedVerdict): void {
  if (ci === null || ci.high >= 0) return;
  throw dataError(
    `the verdict shows that the policy is worse: ${differenceOf({ delta, ci })}, within the margin of ${margin}`,
    "To accept the loss, use --force with --reason.",
  );
}

/** What is promoted is the policy alone: with another prompt or sampling, it is not what was measured. */
function requireDecision({ file, report }: ReadVerdict): void {
  const { decision, knobs, changed = knobs, reasons } = report;
  if (decision !== "PROMOTE" && decision !== "PASS") {
    const why = reasons[0] ? `: ${reasons[0].message}` : "";
    throw dataError(
      `${file} says ${decision}, which promotes nothing${why}`,
      "Only a verdict PROMOTE, or PASS for no regression, promotes a policy.",
    );
  }
  if (changed.some((change) => change !== "policy")) {
    throw dataError(
      `${file} is about a change of ${changed.join(" and ")}, not of the policy alone`,
      "Compare two policies with everything else the same: gate --claim policy.",
    );
  }
}

function requireCandidate(
  { file }: ReadVerdict,
  { dir, manifest }: Run,
  policy: LocatedPolicy,
): void {
  const measured = manifest.policy;
  if (isSamePolicy(measured, policy.identity)) return;
  const other =
    measured === null || (isCheckpoint(measured) && measured.fingerprint === undefined)
      ? "states no policy"
      : `is of ${describePolicy(measured)}`;
  throw dataError(
    `${file} is not about ${policy.source} (${describePolicy(policy.identity)}): its candidate ${dir} ${other}`,
    "Promote the policy that was measured, or measure this one: rollout, eval, gate --report.",
  );
}

/** Otherwise the verdict says nothing about what would be replaced. */
function requireBaseline(
  { baseline }: AcceptedVerdict,
  { name }: AliasPlace,
  current: AliasEntry | undefined,
): void {
  if (!current || isSamePolicy(baseline.manifest.policy, current.policy)) return;
  const was = baseline.manifest.policy ? describePolicy(baseline.manifest.policy) : "no policy";
  throw dataError(
    `the verdict compares with ${was}, and ${name} is ${describePolicy(current.policy)} (entry ${current.number})`,
    `Evaluate the policy of ${name} and run the gate with it as the baseline.`,
  );
}

function requireOther(
  { name }: AliasPlace,
  policy: LocatedPolicy,
  current: AliasEntry | undefined,
) {
  if (!current || !isSamePolicy(policy.identity, current.policy)) return;
  throw usageError(
    `${name} already is ${policy.source} (entry ${current.number})`,
    "There is nothing to promote.",
  );
}

export interface RollbackOptions {
  readonly place: AliasPlace;
  readonly reason: string;
  /** The entry whose policy to restore; the one before, if absent. */
  readonly to?: number | undefined;
  /** Reads the policy as it is now. */
  readonly identify: (source: string) => Promise<LocatedPolicy>;
}

export async function rollback(options: RollbackOptions): Promise<AliasEntry> {
  const { place, reason, identify } = options;
  if (reason.trim() === "") throw usageError("--reason is empty", "Say why; the history keeps it.");
  return adding(place, async (entries) => {
    const [current, target] = targetOf(place, entries, options.to);
    const source = sourceOf(place, target);
    const found = await identify(source).catch((error) => {
      throw unreachable(place, target, source, error);
    });
    if (!isSamePolicy(found.identity, target.policy)) throw changed(place, target, source);
    const { policy, rollback_to } = target;
    return {
      ...{
        action: "rollback",
        policy,
        source: target.source,
        rollback_to,
        restores: target.number,
      },
      ...{ reason, forced: null, verdict: null, stated: current.stated },
    };
  });
}

function targetOf(
  { name, dir }: AliasPlace,
  entries: readonly AliasEntry[],
  to: number | undefined,
): [current: AliasEntry, target: AliasEntry] {
  const current = entries.at(-1);
  if (!current)
    throw dataError(
      `the alias ${name} names no policy: there is no history in ${dir}`,
      "There is nothing to roll back.",
    );
  const number = to ?? current.rollback_to;
  if (number === null)
    throw usageError(
      `${name} has no policy before entry ${current.number} to return to`,
      "Promote another one, or choose an entry with --to.",
    );
  const target = entries[number - 1];
  if (!target) throw usageError(`${name} has no entry ${number}`, `The last is ${current.number}.`);
  if (isSamePolicy(target.policy, current.policy))
    throw usageError(`${name} already is the policy of entry ${number}`, "Nothing to roll back.");
  return [current, target];
}

const ANOTHER = "Put it back, or return to another entry with --to.";

function unreachable(
  { name }: AliasPlace,
  { number }: AliasEntry,
  source: string,
  error: unknown,
): unknown {
  if (!(error instanceof LockedRoomError)) return error;
  return dataError(
    `${name} cannot return to entry ${number}, ${source}: ${error.message}`,
    ANOTHER,
  );
}

function changed({ name }: AliasPlace, { number }: AliasEntry, source: string): Error {
  return dataError(
    `${name} cannot return to entry ${number}: ${source} has changed since it was promoted`,
    ANOTHER,
  );
}

/** Retries when another process added an entry first. */
async function adding(
  place: AliasPlace,
  make: (entries: readonly AliasEntry[]) => Promise<NewEntry>,
): Promise<AliasEntry> {
  for (;;) {
    const entries = readAlias(place);
    const added = await addEntry(place, entries, await make(entries));
    if (added) return added;
  }
}
