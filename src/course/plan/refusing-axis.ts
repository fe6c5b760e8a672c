/** Whether an axis that refused a run measures something of its own. */

import path from "node:path";
import { messageOf } from "../../core/index.ts";
import { validateScorer } from "../../loops/index.ts";
import type { Manifest, Run } from "../../runs/index.ts";
import { openScorer } from "../../scorers/index.ts";
import { DEV } from "../evidence.ts";
import { realInside, workspacePath } from "../workspace-files.ts";

type Identity = Manifest["scorer"];

/** The golden suite of an axis that is not embedded. */
export const axisSuite = (name: string) => `data/golden/${name}.jsonl`;

/** Why an axis is no evidence of a regression; undefined where it is. */
export async function problemOfAxis(
  dir: string,
  name: string,
  runs: readonly Run[],
): Promise<string | undefined> {
  const scorer = runs[0]?.manifest.axes?.find((one) => one.name === name)?.scorer;
  if (!scorer) return `the runs have no axis ${name}`;
  if (await isEmbedded(scorer)) return undefined;
  if (await opposesReward(name, runs))
    return `the axis ${name} falls wherever the reward rises: it is the reward turned round`;
  return problemOfOwn(dir, name, scorer);
}

async function isEmbedded({ name, path: file, source_sha256: hash }: Identity): Promise<boolean> {
  if (file !== null) return false;
  try {
    const scorer = await openScorer(name);
    await scorer.close();
    return scorer.identity.source_sha256 === hash;
  } catch {
    return false;
  }
}

/** On all rows of the runs the axis is a falling function of the reward. */
async function opposesReward(name: string, runs: readonly Run[]): Promise<boolean> {
  const found = new Map<number, number>();
  for (const run of runs)
    for await (const rows of run.results().batches())
      for (const { reward, axes } of rows) {
        const other = axes?.[name]?.reward;
        if (reward === null || other === null || other === undefined) continue;
        if ((found.get(reward) ?? other) !== other) return false;
        found.set(reward, other);
      }
  const byReward = [...found].sort(([a], [b]) => a - b);
  return (
    byReward.length > 1 &&
    byReward.every(([, at], i) => i === 0 || at < (byReward[i - 1]?.[1] ?? at))
  );
}

/** An axis of the workspace must agree with its golden suite. */
async function problemOfOwn(dir: string, name: string, scorer: Identity) {
  const suite = axisSuite(name);
  const file = scorer.path === null ? undefined : realInside(dir, path.resolve(dir, scorer.path));
  if (file === undefined) return `the scorer of the axis ${name} is not in this workspace`;
  const golden = realInside(dir, path.join(dir, suite));
  if (golden === undefined) return `the axis ${name} has no golden suite, ${suite}`;
  try {
    const opened = await openScorer(file);
    try {
      if (opened.identity.source_sha256 !== scorer.source_sha256)
        return `${workspacePath(dir, file)} has changed since the runs`;
      const dataset = path.join(dir, DEV);
      const { valid, rows, counts } = await validateScorer({ dataset, golden, scorer: opened });
      if (valid) return undefined;
      return `the axis ${name} agrees with ${counts.agrees} of the ${rows.length} rows of ${suite}`;
    } finally {
      await opened.close();
    }
  } catch (error) {
    return `the axis ${name} cannot be checked: ${messageOf(error)}`;
  }
}
