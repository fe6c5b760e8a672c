/** What samples.jsonl keeps of an episode, for people to read. */

import type { Message } from "../core/environment.ts";
import type { Example } from "../core/records.ts";
import type { SampleRecord } from "../runs/train-records.ts";
import { completionOf, type Episode } from "./play.ts";

/** `played` in an environment of its own, where the conversation says more than a prompt. */
export function sampleOf(
  episode: Episode,
  played: boolean,
  reward: number | null = episode.reward,
): Omit<SampleRecord, "step"> {
  const { task, end } = episode;
  return {
    ...{ id: task.id, prompt: task.prompt, completion: completionOf(episode) },
    ...{ reward, code: end.code },
    ...(played && { messages: conversationOf(episode) }),
    ...axisLabels(task),
  };
}

/** What was read and written, turn by turn. */
export function conversationOf({ observations, generations }: Episode): Message[] {
  return observations.flatMap((observation, turn) => {
    const own = generations[turn];
    return [
      ...observation.map(({ role, content }) => ({ role, content })),
      ...(own ? [{ role: "assistant" as const, content: own.completion }] : []),
    ];
  });
}

/** As a sample repeats them, so that its axes can be measured later. */
function axisLabels({ axis_labels }: Example): Pick<SampleRecord, "axis_labels"> {
  return axis_labels === undefined
    ? {}
    : { axis_labels: axis_labels as SampleRecord["axis_labels"] };
}
