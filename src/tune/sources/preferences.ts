/** Tasks of preference data: two answers, of which one is better. */

import { openPairs } from "../../runs/read-pairs.ts";
import { answered, asked } from "../conversation.ts";
import type { Task, TaskSource } from "../task.ts";

interface Pair {
  readonly id: string;
  readonly prompt: string;
  readonly chosen: string;
  readonly rejected: string;
  readonly chosen_reward?: number;
  readonly rejected_reward?: number;
}

export async function openPreferences(path: string): Promise<TaskSource> {
  const data = await openPairs(path);
  return {
    ...{ path, what: "preference dataset", notes: [] },
    sha256: data.summary.files["pairs.jsonl"] ?? "",
    async *tasks() {
      for await (const batch of data.pairs().batches())
        for (const row of batch) yield pairTask(row);
    },
  };
}

/** The chosen answer counts as passed only where its reward says so. */
export function pairTask({ id, prompt, chosen, rejected, ...rewards }: Pair): Task {
  const side = (text: string, reward: number | undefined) => ({
    messages: answered(text),
    ...{ reward: reward ?? null, passed: reward === undefined ? null : reward >= 1 },
  });
  const pair = [
    side(chosen, rewards.chosen_reward),
    side(rejected, rewards.rejected_reward),
  ] as const;
  return { ...{ id, prompt: asked(prompt), tools: [], item: {}, pair }, attempts: [...pair] };
}
