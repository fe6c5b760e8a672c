/** Tasks of evaluations and selections: every scored answer of an example. */

import { dataError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { hasPassed } from "../../core/score.ts";
import { RESULTS } from "../../runs/artifacts.ts";
import { byTask } from "../../runs/by-task.ts";
import { openRun, type Run } from "../../runs/reader.ts";
import { exampleOf } from "../../runs/row-example.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { answered, asked, conversationOf } from "../conversation.ts";
import type { Attempt, Task, TaskSource, Wanted } from "../task.ts";
import { itemOf, openDataset, systemOf, toolsBehind } from "./behind.ts";

export async function openScored(path: string, wanted: Wanted): Promise<TaskSource> {
  const run = await openRun(path);
  const { manifest, summary } = run;
  if ((await run.hashOf(RESULTS)) !== summary.results_sha256) {
    throw dataError(`${path}: ${RESULTS} is not what the run wrote`, "Make the run again.");
  }
  const dataset = wanted === "items" ? await openDataset(manifest, path) : undefined;
  const tools = await toolsBehind(manifest);
  const ids = dataset && (await idsOf(run));
  return {
    ...{ path, what: manifest.loop === "A" ? "evaluation" : "selection" },
    sha256: summary.results_sha256,
    systemSha256: systemOf(manifest),
    notes: dataset?.notes ?? [],
    tasks: () => (dataset?.file && ids ? dataset.tasks((id) => ids.has(id)) : rowTasks(run, tools)),
  };
}

async function idsOf(run: Run): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const batch of run.results().batches()) for (const { id } of batch) ids.add(id);
  return ids;
}

async function* rowTasks(run: Run, tools: readonly JsonObject[]): AsyncGenerator<Task> {
  for await (const groups of byTask(run.results().batches())) {
    for (const rows of groups) yield taskOf(rows, tools);
  }
}

function taskOf(rows: readonly ResultRow[], tools: readonly JsonObject[]): Task {
  const [first] = rows as [ResultRow];
  const { id, prompt, episode } = first;
  const { id: _id, prompt: _prompt, ...fields } = exampleOf(first);
  const [opening] = episode ? [conversationOf(episode.messages).prompt] : [];
  return {
    ...{ id, tools, prompt: opening ?? asked(prompt) },
    attempts: rows.flatMap(attemptsOf),
    item: itemOf(fields),
  };
}

/** A selection has all samples of the example; of episodes it has the selected one. */
function attemptsOf(row: ResultRow): Attempt[] {
  const { episode, samples, completion, reward } = row;
  if (episode) {
    const { answer, turnRewards } = conversationOf(episode.messages);
    return [{ messages: answer, reward, passed: hasPassed(row), turnRewards }];
  }
  const answers = samples ?? (completion === null ? [] : [{ ...row, completion }]);
  return answers.map((one) => ({
    messages: answered(one.completion),
    ...{ reward: one.reward, passed: hasPassed(one) },
  }));
}
