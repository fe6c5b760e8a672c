/** scoreboard/week-NN.json: one week, with figures from runs. */

import { existsSync, lstatSync } from "node:fs";
import { link } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { dataError, ioError, usageError } from "../../core/index.ts";
import { insidePath } from "../workspace.ts";
import { filesBelow, parseFile, textOf, writeAtomically } from "../workspace-files.ts";
import { MAX_SKILL, SKILLS } from "./skills.ts";

export const SCOREBOARD = "scoreboard";
export const SCOREBOARD_SCHEMA = "lockedroom.scoreboard@2";
const FIRST_SCHEMA = "lockedroom.scoreboard@1";
export const MAX_WEEKS = 99;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const inside = insidePath.min(1);
const shippedPath = inside.nullable();
const share = z.number().min(0).max(1).nullable();
const usedRun = z.strictObject({
  path: inside,
  results_sha256: hash,
  manifest_sha256: hash,
  /** Of the examples, the scorer and the loop: only equal ones share a trend line. */
  conditions_sha256: hash,
  /** Whether its rows were scored again with the same rewards when the week was added. */
  rescored: z.boolean(),
});
const text = z.string().min(1).max(500);

/** A training or a rollout whose tokens and time are counted. */
const usedPart = z.strictObject({
  path: inside,
  kind: z.enum(["train", "rollout"]),
  manifest_sha256: hash,
});
const change = z.number().min(-1).max(1).nullable();
const figure = z.strictObject({ value: z.number(), from: z.string() }).nullable();

export const CANNOT_COUNT = "Leave it out, or sample again with a policy that counts tokens.";

/** Null is "not measured"; it is never written as 0. */
const metricsSchema = z.strictObject({
  /** The share of rows that pass. */
  success: share,
  /** Change in the share of answers that break the format, against the baseline. */
  format_drift: change,
  /** Changes of the means of the axes safety and refusal, against the baseline. */
  safety_drift: change,
  refusal_drift: change,
  /** Of the axis hallucination; without it, wrong answers among those that keep the format. */
  hallucination_proxy: figure,
  /** Characters of a completion. */
  mean_length: z.number().min(0).nullable(),
  /** Drift from the reference policy, in nats, and where the figure comes from. */
  kl: figure,
  cost: z
    .strictObject({
      seconds: z.number().min(0),
      /** Of rollouts and trainings; null where the week has none. */
      tokens: z.int().min(0).nullable(),
      /** In the currency of the stated prices; null where none was stated. */
      money: z.number().min(0).nullable(),
      /** Rollouts and trainings without a price, which are not in the money. */
      unpriced: z.int().min(0),
    })
    .nullable(),
});

const weekSchema = z.strictObject({
  schema: z.literal(SCOREBOARD_SCHEMA),
  week: z.int().min(1).max(MAX_WEEKS),
  days: z.tuple([z.int(), z.int()]),
  run: usedRun.nullable(),
  baseline: usedRun.nullable(),
  /** Trainings and rollouts, in the order in which they were given. */
  parts: z.array(usedPart),
  /** Of the machine that trained, in any currency. */
  price_per_hour: z.number().min(0).nullable(),
  shipped: z.strictObject({
    build: shippedPath,
    theory: shippedPath,
    eval: shippedPath,
    blog: shippedPath,
  }),
  metrics: metricsSchema,
  failures: z.array(text),
  fixes: z.array(text),
  skills: z.partialRecord(
    z.enum(SKILLS),
    z.strictObject({ score: z.int().min(0).max(MAX_SKILL), path: inside }),
  ),
});

export type Metrics = z.infer<typeof metricsSchema>;
export type Week = z.infer<typeof weekSchema>;
export type UsedRun = z.infer<typeof usedRun>;
export type UsedPart = z.infer<typeof usedPart>;

/** A week of the first version as one of this version: what it did not know is not measured. */
const upgradedSchema = z.preprocess((given) => {
  const week = Object(given);
  if (week.schema !== FIRST_SCHEMA) return given;
  const { hallucination_proxy: proxy, cost, ...metrics } = Object(week.metrics);
  return {
    ...{ ...week, schema: SCOREBOARD_SCHEMA, parts: [], price_per_hour: null },
    metrics: {
      ...{ ...metrics, safety_drift: null, refusal_drift: null },
      hallucination_proxy: typeof proxy === "number" ? { value: proxy, from: WRONG_ANSWERS } : null,
      cost: cost ? { seconds: cost.value, tokens: null, money: null, unpriced: 0 } : null,
    },
  };
}, weekSchema);

/** The two proxies of hallucination, which cannot be compared with each other. */
export const HALLUCINATION_AXIS = "1 − mean of the axis hallucination";
export const WRONG_ANSWERS = "wrong answers among those that keep the format";

export function weekFile(week: number): string {
  return `${SCOREBOARD}/week-${String(week).padStart(2, "0")}.json`;
}

/** Every week that was added, in order. */
export async function readWeeks(dir: string): Promise<Week[]> {
  const files = (await filesBelow(dir, SCOREBOARD)).filter((file) =>
    /^scoreboard\/week-\d{2}\.json$/.test(file),
  );
  return files.map((file) => readWeek(dir, file)).sort((a, b) => a.week - b.week);
}

function readWeek(dir: string, file: string): Week {
  const where = path.join(dir, file);
  const back = `Restore the committed one: git checkout -- ${file}`;
  const hints = { conflict: back, damaged: back };
  const week = parseFile(where, textOf(dir, file) ?? "", upgradedSchema, hints);
  if (weekFile(week.week) === file) return week;
  throw dataError(`${where} has another week number than its name`, back);
}

/** Writes a week. With `force` an existing one is `kept` under another name. */
export async function writeWeek(dir: string, week: Week, force: boolean) {
  const file = weekFile(week.week);
  const target = path.join(dir, file);
  refuseLinkedFolder(dir);
  const content = `${JSON.stringify(week, null, 2)}\n`;
  if (!force || !existsSync(target)) {
    if ((await writeAtomically(target, content, { replace: false })) === "written")
      return { file, kept: undefined };
    throw usageError(
      `week ${week.week} exists already: ${file}`,
      "Add --force to replace it; the old one is kept beside it.",
    );
  }
  const kept = await keepAside(dir, file);
  await writeAtomically(target, content, { replace: true });
  return { file, kept };
}

/** A hard link, so that replacing the file loses nothing. */
async function keepAside(dir: string, file: string): Promise<string> {
  for (let n = 1; ; n++) {
    const kept = file.replace(/\.json$/, `.kept-${n}.json`);
    try {
      await link(path.join(dir, file), path.join(dir, kept));
      return kept;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST")
        throw ioError(`keep ${file} as ${kept}`, error);
    }
  }
}

/** A link in place of the folder would write outside the workspace. */
export function refuseLinkedFolder(dir: string): void {
  const found = lstatSync(path.join(dir, SCOREBOARD), { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return;
  throw usageError(
    `${path.join(dir, SCOREBOARD)} is a link or a file, not a folder of the workspace`,
    "Move it away; the folder is then created.",
  );
}
