/** Settings that have no effect on a run: on its algorithm, or beside its other settings. */

import type { JsonObject } from "../../core/json.ts";
import type { Algorithm, Need } from "../algorithm.ts";
import type { Credit } from "../parts/credit.ts";
import type { KlControl } from "../parts/penalties.ts";
import { trainSettings } from "../settings.ts";
import type { StopSettings } from "./stop.ts";
import { valueAt } from "./wrong-setting.ts";

const ONLY_ADAPTIVE = ["target", "horizon"];
const ONLY_WITH_KL = ["coefficient", "estimator", "place", ...ONLY_ADAPTIVE];
/** A penalty needs the reference on every row, so that there is nothing to choose. */
const ONLY_WITHOUT_KL = ["diagnostic_share"];
/** Settings without effect, by the mode of the KL penalty. */
const IDLE: Record<KlControl["mode"], readonly string[]> = {
  none: ONLY_WITH_KL,
  fixed: [...ONLY_ADAPTIVE, ...ONLY_WITHOUT_KL],
  adaptive: ONLY_WITHOUT_KL,
};

interface Unread {
  readonly names: readonly string[];
  readonly because: string;
}

const FROM_FILES: Unread = {
  names: ["rollouts", "kl", "weights", "cost"],
  because: "does not sample",
};

/** Settings without effect, by the kind of training data. */
const UNREAD: Record<Need, Unread> = {
  texts: FROM_FILES,
  pairs: FROM_FILES,
  labels: FROM_FILES,
  "passing samples": {
    names: [
      ...["rollouts.prompts", "rollouts.group", "rollouts.dynamic", "rollouts.credit"],
      ...["rollouts.discount", "kl", "cost"],
    ],
    because: "samples once, before the first update",
  },
  rollouts: {
    names: ["batch"],
    because: "trains on rollouts.prompts times rollouts.group completions",
  },
};

/** Names of settings or groups that have no effect on an algorithm or are incompatible with it. */
export function unusedSettings({ needs, valueHead }: Algorithm): readonly string[] {
  const { names } = UNREAD[needs];
  return valueHead ? [...names, "lora", "rollouts.discount"] : names;
}

export interface Idle {
  readonly name: string;
  readonly because: string;
  /** The setting that would give it an effect, as an assignment; undefined where none does. */
  readonly add?: string;
}

/** Given settings that have no effect on the algorithm, or in combination with the others. */
export function idleSettings(algorithm: Algorithm, given: JsonObject): Idle[] {
  const { kl, stop, rollouts } = trainSettings(algorithm, given);
  return [
    ...unread(algorithm, given),
    ...(algorithm.needs === "rollouts" ? idleKl(kl.mode, given) : []),
    ...(algorithm.needs === "rollouts" ? idleDiscount(algorithm, rollouts.credit, given) : []),
    ...idleStop(stop, given),
  ];
}

function unread({ name: method, needs }: Algorithm, given: JsonObject): Idle[] {
  const { names, because } = UNREAD[needs];
  return names
    .flatMap((name) => namesBelow(name, valueAt(given, name.split("."))))
    .filter((name) => !isOff(name, valueAt(given, name.split("."))))
    .map((name) => ({ name, because: `${name} has no effect: ${method} ${because}` }));
}

/** The settings of a group that are given, by their whole names. */
function namesBelow(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== "object" || Array.isArray(value)) return [name];
  return Object.entries(value).flatMap(([inner, one]) => namesBelow(`${name}.${inner}`, one));
}

/** What asks for nothing has no effect anywhere. */
function isOff(name: string, value: unknown): boolean {
  return name === "kl.mode" && value === "none";
}

function idleKl(mode: KlControl["mode"], given: JsonObject): Idle[] {
  return IDLE[mode]
    .filter((name) => (valueAt(given, ["kl", name]) ?? null) !== null)
    .map((name) => ({
      name: `kl.${name}`,
      because: `kl.${name} has no effect while kl.mode is ${mode}${
        ONLY_WITHOUT_KL.includes(name) ? ": a KL penalty needs the reference on all rows" : ""
      }`,
      add: `kl.mode=${modeFor(name)}`,
    }));
}

/** The mode in which a setting of the KL penalty has an effect. */
function modeFor(name: string): KlControl["mode"] {
  if (ONLY_WITHOUT_KL.includes(name)) return "none";
  return ONLY_ADAPTIVE.includes(name) ? "adaptive" : "fixed";
}

/** A discount of whole turns, where there is nothing to discount. */
function idleDiscount({ name, valueHead }: Algorithm, credit: Credit, given: JsonObject): Idle[] {
  if ((valueAt(given, ["rollouts", "discount"]) ?? 1) === 1) return [];
  const idle = { name: "rollouts.discount" };
  if (valueHead) {
    const because = `rollouts.discount has no effect: ${name} discounts by token (algorithm.discount)`;
    return [{ ...idle, because }];
  }
  if (credit !== "trajectory") return [];
  const because = "rollouts.discount has no effect while rollouts.credit is trajectory";
  return [{ ...idle, because, add: "rollouts.credit=turn" }];
}

/** Settings of a stop condition that is not asked for. */
function idleStop({ margin, money }: StopSettings, given: JsonObject): Idle[] {
  const isGiven = (name: string) => (valueAt(given, ["stop", name]) ?? null) !== null;
  return [
    ...(isGiven("baseline") && margin === null
      ? [idleWithout("stop.baseline", "stop.margin", "0.05")]
      : []),
    ...(isGiven("price") && money === null ? [idleWithout("stop.price", "stop.money", "1")] : []),
  ];
}

function idleWithout(name: string, other: string, value: string): Idle {
  const because = `${name} has no effect without ${other}`;
  return { name, because, add: `${other}=${value}` };
}
