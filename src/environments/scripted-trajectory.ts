/** Trajectories of a function in place of a policy: as a rollout writes them, without tokens. */

import { type Message, sums, type Turn } from "../core/environment.ts";
import type { Example } from "../core/records.ts";
import { rngAt } from "../core/rng.ts";
import { episodeAddress, type Trajectory, type TrajectoryMessage } from "../core/trajectory.ts";
import type { OpenedEnvironment } from "./open.ts";
import { type Played, playable } from "./playable.ts";

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
  let turn: Turn<Played> = await environment.reset(task, rngAt(...address, "environment"));
  const messages: TrajectoryMessage[] = turn.observation.map(observed);
  const metrics = sums(turn.metrics);
  let reward = turn.reward;
  for (let turns = 0; !turn.end; turns++) {
    const before = turn.reward;
    const content = player(turn.state.state, turns);
    const [next] = await environment.step([{ state: turn.state, action: { text: content } }]);
    turn = next as Turn<Played>;
    const own = turns === 0 ? sumOf(before, turn.reward) : turn.reward;
    reward = sumOf(reward, turn.reward);
    for (const [name, value] of Object.entries(turn.metrics ?? {}))
      metrics[name] = (metrics[name] ?? 0) + value;
    messages.push({ role: "assistant", content, sampled: UNSAMPLED, reward: own });
    messages.push(...turn.observation.map(observed));
  }
  const turns = messages.filter(({ role }) => role === "assistant").length;
  const { code, terminated, details } = turn.end;
  return {
    ...{ id: task.id, sample, address, messages, segments: null, reward, code, terminated },
    metrics: { ...metrics, turns },
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

function sumOf(before: number | null, reward: number | null): number | null {
  return before === null || reward === null ? null : before + reward;
}
