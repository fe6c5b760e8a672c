/** Tasks of rollouts: answers that nobody scored yet, or episodes with the rewards of an environment. */

import { join } from "node:path";
import { isSolved } from "../../core/score.ts";
import type { Trajectory } from "../../core/trajectory.ts";
import { TRAJECTORIES } from "../../runs/artifacts.ts";
import { byTask } from "../../runs/by-task.ts";
import { openRollout, type Rollout } from "../../runs/read-rollout.ts";
import { answerPacks, promptsOf } from "../../runs/rollout-answers.ts";
import { readTrajectories } from "../../runs/trajectory-schema.ts";
import { openTrajectories } from "../../runs/trajectory-source.ts";
import { fileExists, sha256OfFile } from "../../runs/whole-file.ts";
import { answered, asked, conversationOf } from "../conversation.ts";
import type { Task, TaskSource, Wanted } from "../task.ts";
import { noPrompts, openDataset, systemOf, toolsIn } from "./behind.ts";

export async function openAnswers(path: string, wanted: Wanted): Promise<TaskSource> {
  if (fileExists(join(path, TRAJECTORIES))) {
    const { file, manifest } = await openTrajectories(path);
    return openEpisodes(path, file, manifest);
  }
  const rollout = await openRollout(path);
  const ids = new Set<string>();
  const packs = answerPacks(rollout);
  for await (const batch of packs.batches()) for (const { id } of batch) ids.add(id);
  const source = {
    ...{ path, what: "rollout", sha256: packs.sha256, notes: [] },
    systemSha256: systemOf(rollout.manifest),
  };
  if (wanted === "items") {
    const dataset = await openDataset(rollout.manifest, path);
    if (dataset.file === undefined) throw noPrompts(path);
    return { ...source, tasks: () => dataset.tasks((id) => ids.has(id)) };
  }
  const prompts = await promptsOf(rollout.manifest, ids);
  if (!prompts) throw noPrompts(path);
  return { ...source, tasks: () => packTasks(rollout, prompts) };
}

async function* packTasks(
  rollout: Rollout,
  prompts: ReadonlyMap<string, string>,
): AsyncGenerator<Task> {
  for await (const batch of answerPacks(rollout).batches()) {
    for (const { id, answers } of batch) {
      yield {
        ...{ id, tools: [], item: {}, prompt: asked(prompts.get(id) ?? "") },
        attempts: answers.map(({ completion }) => ({
          ...{ messages: answered(completion), reward: null, passed: null },
        })),
      };
    }
  }
}

/** `file` is a trajectories.jsonl; without a manifest nobody says which codes are solved. */
export async function openEpisodes(
  path: string,
  file: string,
  manifest: Awaited<ReturnType<typeof openTrajectories>>["manifest"],
): Promise<TaskSource> {
  const solved = Array.isArray(manifest?.solved) ? (manifest.solved as string[]) : undefined;
  const tools = toolsIn(manifest);
  return {
    ...{ path, what: "episodes", notes: [], sha256: await sha256OfFile(file) },
    async *tasks() {
      for await (const groups of byTask(readTrajectories(file).batches())) {
        for (const episodes of groups) {
          const [first] = episodes as [Trajectory];
          yield {
            ...{ id: first.id, tools, item: {} },
            prompt: conversationOf(first.messages).prompt,
            attempts: episodes.map((episode) => attemptOf(episode, solved)),
          };
        }
      }
    },
  };
}

function attemptOf(episode: Trajectory, solved: readonly string[] | undefined) {
  const { answer, turnRewards } = conversationOf(episode.messages);
  return {
    ...{ messages: answer, reward: episode.reward, turnRewards },
    passed: solved ? isSolved(episode, solved) : null,
  };
}
