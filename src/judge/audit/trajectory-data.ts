/**
 * Episodes with rewards that no judge gave, as labelled data: the episodes of a task are a group, and two
 * of them a pair.
 */

import type { Attempt, LabelledData, LabelledGroup, LabelledPair } from "../../audit/labelled.ts";
import type { Tool } from "../../core/environment.ts";
import { dataError } from "../../core/errors.ts";
import { unjudgedTrajectory } from "../../core/judged-trajectory.ts";
import { rngAt, shuffled } from "../../core/rng.ts";
import type { Trajectory, TrajectoryGroup } from "../../core/trajectory.ts";
import { TrajectoryGroups } from "../../runs/trajectory-groups.ts";
import { openTrajectories } from "../../runs/trajectory-source.ts";

export async function readTrajectoryData(given: string): Promise<LabelledData> {
  const { file, manifest } = await openTrajectories(given);
  const tools = (manifest?.tools ?? []) as unknown as readonly Tool[];
  const rows = new TrajectoryGroups(file, new Map());
  const groups: LabelledGroup[] = [];
  let read = 0;
  for await (const batch of rows.batches()) {
    for (const group of batch) {
      read++;
      const labelled = labelledGroup(group, tools);
      if (labelled) groups.push(labelled);
    }
  }
  if (groups.length === 0)
    throw dataError(
      `none of the ${read} tasks in ${file} has episodes with different independent rewards`,
      "Give episodes of an environment that gives rewards, several of each task (rollout --n 4), or labelled pairs with --pairs.",
    );
  return {
    source: given,
    pairs: groups.map(drawnPair),
    groups: groups.filter(({ attempts }) => attempts.length > 2),
    inputs: [rows.asInput("trajectories")],
  };
}

/** Undefined where the rewards do not order the episodes. */
function labelledGroup(
  { id, trajectories }: TrajectoryGroup,
  tools: readonly Tool[],
): LabelledGroup | undefined {
  const known = trajectories.flatMap((one) => {
    // Of judged episodes the reward is the judge's own.
    const { reward: worth } = unjudgedTrajectory(one);
    return worth === null ? [] : [{ attempt: shown(one), worth }];
  });
  if (new Set(known.map(({ worth }) => worth)).size < 2) return undefined;
  return {
    id,
    attempts: known.map(({ attempt }) => attempt),
    worth: known.map(({ worth }) => worth),
    tools,
  };
}

function shown({ messages }: Trajectory): Attempt {
  return messages.map((message) => ({
    role: message.role,
    content: message.content,
    ...(message.role === "assistant" &&
      message.tool_calls && {
        tool_calls: message.tool_calls.map(({ name, arguments: given }) => ({
          name,
          arguments: given,
        })),
      }),
  }));
}

/**
 * Drawn among those with different rewards: the gate compares any two attempts, and the best and the worst
 * of several are easier to tell apart.
 */
function drawnPair({ id, attempts, worth, tools }: LabelledGroup): LabelledPair {
  const [first = 0, ...others] = shuffled([...worth.keys()], rngAt("judge-audit", "pair", id));
  const second = others.find((one) => worth[one] !== worth[first]) as number;
  const isFirst = (worth[first] as number) > (worth[second] as number);
  const [better, worse] = isFirst ? [first, second] : [second, first];
  return { id, better: attempts[better] as Attempt, worse: attempts[worse] as Attempt, tools };
}
