/** The few figures by which a run is known in a list. */

import type { Json, JsonObject } from "../core/json.ts";
import { EVALUATIONS, METRICS } from "./artifacts.ts";
import type { RunKind } from "./kinds.ts";
import { lastRow } from "./tail.ts";

/** Null where the figure is undefined, such as a pass rate over no rows; left out where unknown. */
export type Headline = Readonly<Record<string, number | null>>;

/** Where in a summary each figure is. */
const FIGURES: Record<RunKind, readonly (readonly string[])[]> = {
  eval: [
    ["metrics", "pass_rate"],
    ["metrics", "mean_reward"],
    ["metrics", "n_examples"],
  ],
  select: [
    ["metrics", "pass_rate"],
    ["metrics", "pass_at_1"],
    ["metrics", "delta"],
  ],
  experiment: [
    ["metrics", "pass_rate"],
    ["metrics", "mean_reward"],
  ],
  rollout: [["n_examples"], ["n_answers"], ["cost", "completion_tokens"]],
  pairs: [["n_prompts"], ["n_pairs"], ["n_labels"]],
  train: [["steps"], ["tokens"], ["last_loss"], ["alarms"]],
};

export async function headlineOf(
  dir: string,
  kind: RunKind,
  summary: JsonObject | undefined,
): Promise<Headline> {
  const last = kind === "train" ? await lastFigures(dir) : {};
  return { ...last, ...figuresOf(kind, summary) };
}

function figuresOf(kind: RunKind, summary: JsonObject | undefined): Headline {
  const found = FIGURES[kind].map((names): [string, Json | undefined] => {
    const value = names.reduce<Json | undefined>(
      (inside, key) => (inside as JsonObject | null | undefined)?.[key],
      summary,
    );
    return [names.at(-1) as string, value];
  });
  return numbers(Object.fromEntries(found));
}

/** What the streams of a training run say so far; the last validation is in no summary. */
async function lastFigures(dir: string): Promise<Headline> {
  const { step, loss } = (await lastRow(dir, METRICS)) ?? {};
  const { pass_rate } = (await lastRow(dir, EVALUATIONS)) ?? {};
  return numbers({ steps: step, last_loss: loss, pass_rate });
}

function numbers(values: Record<string, Json | undefined>): Headline {
  const known = Object.entries(values).filter(
    (entry): entry is [string, number | null] => entry[1] === null || typeof entry[1] === "number",
  );
  return Object.fromEntries(known);
}
