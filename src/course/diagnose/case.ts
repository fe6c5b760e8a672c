/** The runs to diagnose: their curves and ablations, as `npm run diagnose-cases` stores them. */

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { dataError, messageOf, rngAt, shuffled, usageError } from "../../core/index.ts";
import { PACKAGE_ROOT } from "../workspace.ts";
import { CAUSE_NAMES } from "./causes.ts";

const FOLDER = path.join(PACKAGE_ROOT, "assets/diagnose");

const curve = z.array(z.number());
const runSchema = z.strictObject({
  steps: z.array(z.int()),
  curves: z.strictObject({
    reward: curve,
    kl: curve,
    entropy: curve,
    length: curve,
    value_loss: curve.optional(),
    clip_fraction: curve.optional(),
  }),
  validation: z.strictObject({ steps: z.array(z.int()), pass_rate: curve }),
  /** Names of the alarms that `train` raised. */
  alarms: z.array(z.string()),
});

const caseSchema = z.strictObject({
  schema: z.literal("lockedroom.diagnose-case@1"),
  name: z.string(),
  cause: z.enum(CAUSE_NAMES),
  algorithm: z.string(),
  /** What gave the rewards; "exact" is the scorer used for validation. */
  reward: z.string(),
  settings: z.record(z.string(), z.json()),
  run: runSchema,
  /** The same run with one thing changed. */
  ablation: z.strictObject({
    settings: z.record(z.string(), z.json()).optional(),
    reward: z.string().optional(),
    run: runSchema,
  }),
});

export type CurveRun = Readonly<z.infer<typeof runSchema>>;
export type DiagnoseCase = Readonly<z.infer<typeof caseSchema>>;

/** How many cases there are. */
export const caseCount = (): number => names().length;

function names(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .sort();
}

/** Case `number`, from 1, in the order that the seed gives. */
export function openCase(number: number, seed: number): DiagnoseCase {
  const order = shuffled(names(), rngAt(seed, "diagnose"));
  const name = order[number - 1];
  if (name === undefined)
    throw usageError(`there is no case ${number}`, `Choose one from 1 to ${order.length}.`);
  return read(name);
}

/** The case of a run; undefined where there is none of that name. */
export function caseNamed(name: string): DiagnoseCase | undefined {
  const file = names().find((one) => one === `${name}.json`);
  return file === undefined ? undefined : read(file);
}

function read(name: string): DiagnoseCase {
  const file = path.join(FOLDER, name);
  try {
    return caseSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    throw dataError(`${file} is damaged: ${messageOf(error)}`, "Install lockedroom again.");
  }
}
