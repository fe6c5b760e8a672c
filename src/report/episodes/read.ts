/** One pass over the trajectories of a rollout: counted again, and the first ones of each code. */

import { canonicalJson, type JsonObject } from "../../core/json.ts";
import type { RolloutFailure } from "../../core/trajectory.ts";
import { SUMMARY } from "../../runs/artifacts.ts";
import { openRollout } from "../../runs/read-rollout.ts";
import { findEpisodes } from "../../runs/recorded-episodes.ts";
import type { RolloutManifest, RolloutSummary } from "../../runs/rollout-schemas.ts";
import { readTrajectories } from "../../runs/trajectory-schema.ts";
import { EpisodeMeans, type EpisodesSummary } from "../../stats/episode-means.ts";
import { RateCounts } from "../../stats/rate-counts.ts";
import { type Business, type BusinessOptions, businessOfRollout } from "../business/business.ts";
import { conversationIn } from "../conversation.ts";
import type { Html } from "../page/html.ts";
import { verificationOf } from "../page/verification.ts";
import { ConversationGroups } from "./conversations.ts";

export interface EpisodesRun {
  readonly business: Business;
  readonly dir: string;
  readonly manifest: RolloutManifest;
  readonly manifestJson: JsonObject;
  readonly summary: RolloutSummary;
  readonly edited: readonly string[];
  readonly verification: string | undefined;
  readonly failures: readonly RolloutFailure[];
  /** Counted from the trajectories; rates are over tasks where a task has several. */
  readonly rates: RateCounts;
  readonly codes: ReadonlyMap<string, number>;
  readonly episodes: EpisodesSummary | undefined;
  readonly conversations: Html;
}

/** `level` is that of the headings of codes. */
export async function readEpisodes(
  dir: string,
  level: number,
  options: BusinessOptions,
): Promise<EpisodesRun> {
  const rollout = await openRollout(dir);
  const { manifest, summary } = rollout;
  const { file, failures } = await findEpisodes(dir);
  const rates = new RateCounts();
  const codes = new Map<string, number>();
  const means = new EpisodeMeans();
  const groups = new ConversationGroups(level);
  let last: string | undefined;
  for await (const batch of readTrajectories(file).batches()) {
    for (const trajectory of batch) {
      const one = conversationIn(trajectory, manifest.solved ?? []);
      const isFirst = one.id !== last;
      last = one.id;
      const sample = manifest.n === 1 ? undefined : isFirst ? 0 : 1;
      rates.add({ reward: one.reward, passed: one.passed, sample });
      codes.set(one.code, (codes.get(one.code) ?? 0) + 1);
      means.add(one);
      groups.add(one);
    }
  }
  const edited = await rollout.editedFiles();
  if (!agrees(summary, codes, rates.rows)) edited.push(SUMMARY);
  return {
    ...{ dir, manifest, summary, edited, failures, rates, codes },
    business: businessOfRollout(rollout, options),
    verification: await verificationOf(dir),
    manifestJson: JSON.parse(canonicalJson(manifest)),
    episodes: means.table(),
    conversations: groups.html,
  };
}

function agrees(
  { episodes }: RolloutSummary,
  codes: ReadonlyMap<string, number>,
  total: number,
): boolean {
  return (
    episodes?.n === total &&
    canonicalJson(episodes.codes) === canonicalJson(Object.fromEntries(codes))
  );
}
