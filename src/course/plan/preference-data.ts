/** Preference pairs that a run learned from, made again: from the same samples come the same pairs. */

import path from "node:path";
import { makePairs, PAIR_RULES, type PairRule } from "../../loops/index.ts";
import { type InputEntry, openPairs, PAIRS } from "../../runs/index.ts";
import { withScratch } from "../scratch.ts";
import { fileSha256, realInside } from "../workspace-files.ts";
import type { PlanContext } from "./criterion.ts";
import { inputOf, type Training } from "./training.ts";

/** The folder of the pairs that a run learned from; undefined where it is not in runs/. */
async function pairsOf({ dir, trainings }: PlanContext, { manifest }: Training) {
  const learned = inputOf(manifest, "pairs")?.sha256;
  for (const folder of trainings.foldersWith("pairs", PAIRS))
    if ((await fileSha256(path.join(dir, folder, PAIRS))) === learned) return folder;
  return undefined;
}

/** Several criteria ask about the same run. */
const asked = new WeakMap<Training, Promise<string | undefined>>();

/** Why the pairs of a run cannot be made again; undefined where they were. */
export function problemInPairs(context: PlanContext, training: Training) {
  const answer = asked.get(training) ?? makeAgain(context, training);
  asked.set(training, answer);
  return answer;
}

async function makeAgain(context: PlanContext, training: Training): Promise<string | undefined> {
  const folder = await pairsOf(context, training);
  if (folder === undefined)
    return "its pairs are not those of a folder that `pairs` made in runs/, so that nobody can make them again.";
  const { manifest, manifestIntact } = await openPairs(path.join(context.dir, folder));
  if (!manifestIntact) return `${folder} was edited: manifest.json.`;
  const [dataset, rollouts] = await Promise.all(
    ["dataset", "samples"].map((role) =>
      found(
        context.dir,
        manifest.inputs.find((one) => one.role === role),
      ),
    ),
  );
  const scorer = await context.trainings.scorers.scorer(manifest.scorer);
  if (!dataset || !rollouts || !scorer)
    return `${folder} cannot be made again: ${!dataset ? "its data set is" : !rollouts ? "its samples are" : "its scorer is"} not here, or not as before.`;
  const {
    by,
    margin,
    length_tolerance: lengthTolerance,
    per_prompt: perPrompt,
  } = manifest.settings;
  if (!isRule(by)) return `${folder} was paired by ${by}, which this version does not know.`;
  const settings = { by, margin, lengthTolerance, perPrompt };
  const again = await withScratch("lockedroom-pairs-", async (scratch) => {
    const outdir = path.join(scratch, "pairs");
    const made = await makePairs({ dataset, rollouts, scorer, outdir, ...settings });
    return fileSha256(made.pairs);
  });
  return again === inputOf(training.manifest, "pairs")?.sha256
    ? undefined
    : `${folder} was edited: its samples give other pairs.`;
}

const isRule = (name: string): name is PairRule => (PAIR_RULES as readonly string[]).includes(name);

/** An input with the bytes that it had; in a moved workspace the part from data/ or runs/ is right. */
async function found(dir: string, input: InputEntry | undefined): Promise<string | undefined> {
  if (typeof input?.path !== "string") return undefined;
  const tail = /(?:^|[\\/])((?:data|runs)[\\/].*)$/.exec(input.path)?.[1]?.replaceAll("\\", "/");
  for (const name of [input.path, tail ?? input.path]) {
    const file = realInside(dir, path.resolve(dir, name));
    if (file !== undefined && (await fileSha256(file)) === input.sha256) return file;
  }
  return undefined;
}
