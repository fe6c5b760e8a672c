/** What it takes to run a policy: tokens, money, latency, safety, and the alias that it would serve. */

import type { JsonObject } from "../../core/json.ts";
import { isCheckpoint } from "../../core/policy.ts";
import { isSamePolicy } from "../../core/same-policy.ts";
import type { AliasEntry } from "../../runs/alias-entry.ts";
import { aliasPlace, currentEntry, readAlias, sourceOf } from "../../runs/alias-history.ts";
import type { Rollout } from "../../runs/read-rollout.ts";
import type { Run } from "../../runs/reader.ts";
import { rolloutBehind } from "../../runs/rollout-behind.ts";
import type { Timing } from "../../runs/timing-schema.ts";

/** Money for a million tokens. */
export interface Prices {
  readonly in: number;
  readonly out: number;
}

export interface BusinessOptions {
  /** For rollouts without stated prices. */
  readonly prices?: Prices | undefined;
  /** Price of the machine, in any currency: of the time that training or sampling took. */
  readonly pricePerHour?: number | undefined;
  /** The alias that the policy has, or is to have. */
  readonly alias?: string | undefined;
}

export interface Usage {
  readonly completions: number;
  readonly perExample: number;
  /** Of a rollout in an environment, where a completion is a turn. */
  readonly episodes: number | undefined;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Answers without a count of tokens. */
  readonly uncounted: number;
  readonly prices: Prices | undefined;
  readonly money: number | undefined;
  readonly isLocal: boolean;
  readonly timing: Timing | undefined;
  /** Of a local policy whose sampling was timed, where the machine has a price. */
  readonly machine: MachineTime | undefined;
}

export interface MachineTime {
  readonly money: number;
  readonly pricePerHour: number;
  /** The time is that of some of the completions: a rollout was resumed. */
  readonly isPart: boolean;
}

/** The axis `safety` of an evaluation; higher is safer. */
export interface Safety {
  readonly mean: number | null;
  readonly scored: number;
  readonly errors: number;
  readonly codes: Readonly<Record<string, number>>;
}

export interface NamedBy {
  readonly name: string;
  readonly flag: string;
  readonly entry: AliasEntry;
  readonly source: string;
  /** What a rollback returns to. */
  readonly before: { readonly number: number; readonly source: string } | undefined;
  /** Whether the policy of the run is the one that the alias names now. */
  readonly isThis: boolean;
}

export interface Business {
  /** A sentence where it is not known. */
  readonly usage: Usage | string;
  /** Undefined where nothing was scored for it. */
  readonly safety: Safety | undefined;
  readonly isScored: boolean;
  readonly alias: NamedBy | undefined;
}

export async function businessOfScored(
  run: Pick<Run, "dir" | "manifest" | "summary">,
  options: BusinessOptions,
): Promise<Business> {
  const { manifest, summary } = run;
  const rollout = await rolloutBehind(run);
  return {
    usage: typeof rollout === "string" ? rollout : usageOf(rollout, options),
    safety: summary.axes?.safety,
    isScored: true,
    alias: aliasOf(manifest.policy, options),
  };
}

export function businessOfRollout(rollout: Rollout, options: BusinessOptions): Business {
  return {
    usage: usageOf(rollout, options),
    ...{ safety: undefined, isScored: false },
    alias: aliasOf(rollout.manifest.policy, options),
  };
}

function usageOf(
  { manifest, summary }: Pick<Rollout, "manifest" | "summary">,
  options: BusinessOptions,
): Usage {
  const { cost } = summary;
  const prices =
    cost.price_in !== null && cost.price_out !== null
      ? { in: cost.price_in, out: cost.price_out }
      : options.prices;
  const { prompt_tokens: tokensIn, completion_tokens: tokensOut } = cost;
  const { timing } = manifest.volatile;
  const isLocal = isCheckpoint(manifest.policy);
  const { pricePerHour } = options;
  const isPriced = isLocal && timing !== undefined && pricePerHour !== undefined;
  return {
    ...{ completions: summary.n_answers, perExample: manifest.n, tokensIn, tokensOut },
    episodes: summary.episodes?.n,
    ...{ uncounted: cost.n_uncounted, prices, isLocal, timing },
    money: prices && (tokensIn * prices.in + tokensOut * prices.out) / 1_000_000,
    machine: isPriced
      ? {
          money: (timing.seconds / 3600) * pricePerHour,
          pricePerHour,
          isPart: timing.completions.n < summary.n_answers,
        }
      : undefined,
  };
}

/** Refuses an alias that is damaged or names nothing, before runs are read. */
export function requireAlias(options: BusinessOptions): void {
  aliasOf(null, options);
}

/** The alias that is asked for, and whether it names this policy. */
export function aliasOf(
  policy: JsonObject | null,
  { alias }: BusinessOptions,
): NamedBy | undefined {
  if (alias === undefined) return undefined;
  const place = aliasPlace(alias);
  const entry = currentEntry(place);
  const before = entry.rollback_to === null ? undefined : readAlias(place)[entry.rollback_to - 1];
  return {
    ...{ name: place.name, flag: alias, entry, source: sourceOf(place, entry) },
    before: before && { number: before.number, source: sourceOf(place, before) },
    isThis: isSamePolicy(policy, entry.policy),
  };
}
