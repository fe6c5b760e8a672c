/** Trajectories of a function in place of a policy: as a rollout writes them, without tokens. */

import type { Message, Turn } from "../src/core/environment.ts";
import { environmentRng, episodeAddress } from "../src/core/episode-address.ts";
import { EpisodeSum } from "../src/core/episode-sum.ts";
import type { Example } from "../src/core/records.ts";
import type { Trajectory, TrajectoryMessage } from "../src/core/trajectory.ts";
import type { OpenedEnvironment } from "../src/environments/open.ts";
import { type Played, playable } from "../src/environments/playable.ts";

/** Any of a definition's players, or another function of its state. */
export type ScriptedPlayer = (state: unknown, turn: number) => string;

export interface ScriptedOptions {
  readonly seed: number;
  readonly sample?: number;
}

export async function scriptedTrajectory(
  opened: OpenedEnvironment,
  task: Example,
  player: ScriptedPlayer,
  { seed, sample = 0 }: ScriptedOptions,
): Promise<Trajectory> {
  const address = episodeAddress(seed, task.id, sample);
  const environment = playable(opened);
  const sum = new EpisodeSum(await environment.reset(task, environmentRng(address)));
  const messages: TrajectoryMessage[] = sum.turn.observation.map(observed);
  while (!sum.turn.end) {
    const { state } = sum.turn;
    const content = player(state.state, sum.turnRewards.length);
    const [next] = await environment.step([{ state, action: { text: content } }]);
    sum.add(next as Turn<Played>);
    const reward = sum.turnRewards.at(-1) ?? null;
    messages.push({ role: "assistant", content, sampled: UNSAMPLED, reward });
    messages.push(...sum.turn.observation.map(observed));
  }
  const { code, terminated, details } = sum.turn.end;
  return {
    ...{ id: task.id, sample, address, messages, segments: null, reward: sum.reward },
    ...{ code, terminated },
    metrics: { ...sum.metrics, turns: sum.turnRewards.length },
    metadata: { details },
    logs: [],
  };
}

const UNSAMPLED = {
  ...{ token_ids: null, logprobs: null, finish: "stop" },
  ...{ prompt_tokens: null, completion_tokens: null },
};

/** An environment does not speak for the policy. */
function observed({ role, content }: Message): TrajectoryMessage {
  return { role: role === "assistant" ? "user" : role, content };
}
