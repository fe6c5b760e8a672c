/** The policy plays recorded episodes again, at their addresses. */

import type { PlayableEnvironment } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { gather } from "../loops/gather.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { type Draw, drawnRows } from "./draw.ts";
import type { Comparison, OnProgress } from "./part.ts";
import type { OpenedEnvironment } from "./recorded-environment.ts";

/** The episodes of one task. */
export interface Recorded {
  readonly id: string;
  /** By sample, what is compared. */
  readonly episodes: ReadonlyMap<number, JsonObject>;
}

interface Again {
  /** Absent: all tasks. */
  readonly draw?: Draw | undefined;
  readonly onProgress?: OnProgress | undefined;
  readonly comparison: Comparison;
  readonly total: number;
  /** A hash of what is compared, so that no draw fits every run. */
  readonly content: string;
  /** What is compared of an episode. */
  shown(trajectory: Trajectory): JsonObject;
}

/** Tasks that are played together. */
const AT_ONCE = 32;

export async function playAgain(
  policy: EmbeddedPolicy,
  { environment, tasks }: OpenedEnvironment,
  recorded: AsyncIterable<Recorded>,
  { draw, total, content, comparison, onProgress, shown }: Again,
): Promise<VerificationPart> {
  const drawn = draw && drawnRows(draw, total, content);
  const wanted = drawn?.size ?? total;
  let place = 0;
  let waiting: Recorded[] = [];
  const settle = async () => {
    const again = await playedAgain(policy, environment, tasks, waiting);
    for (const { id, episodes } of waiting) {
      for (const [sample, found] of episodes) {
        const one = again.get(`${sample} ${id}`);
        comparison.compare(id, one ? shown(one) : {}, found);
      }
    }
    waiting = [];
    onProgress?.("Playing again", Math.min(place, wanted), wanted);
  };
  for await (const one of recorded) {
    if (drawn?.has(place++) === false) continue;
    waiting.push(one);
    if (waiting.length === AT_ONCE) await settle();
  }
  await settle();
  return comparison.part("sample", total, draw ? `drawn by ${draw.seed}` : "all episodes");
}

async function playedAgain(
  policy: EmbeddedPolicy,
  { environment }: PlayableEnvironment,
  tasks: ReadonlyMap<string, Example>,
  recorded: readonly Recorded[],
): Promise<Map<string, Trajectory>> {
  const again = new Map<string, Trajectory>();
  const wanted = new Map(recorded.map(({ id, episodes }) => [id, episodes]));
  const most = Math.max(0, ...recorded.map(({ episodes }) => 1 + Math.max(-1, ...episodes.keys())));
  await gather({
    ...{ actor: policy.actor(), environment, n: most, seed: policy.sampling.seed },
    tasks: recorded.flatMap(({ id }) => tasks.get(id) ?? []),
    maxFailures: Number.POSITIVE_INFINITY,
    skips: (id, sample) => !wanted.get(id)?.has(sample),
    onEpisode: (one) => void again.set(`${one.sample} ${one.id}`, one),
  });
  return again;
}
