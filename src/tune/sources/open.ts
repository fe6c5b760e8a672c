/** Opens whatever tasks come from: runs of any kind, or files of rows. */

import { dataError } from "../../core/errors.ts";
import { requireKind } from "../../runs/folder-kind.ts";
import { isFolder } from "../../runs/whole-file.ts";
import type { TaskSource, Wanted } from "../task.ts";
import { openFile } from "./files.ts";
import { openPreferences } from "./preferences.ts";
import { openAnswers } from "./rollouts.ts";
import { openScored } from "./scored.ts";

export async function openSource(path: string, wanted: Wanted): Promise<TaskSource> {
  if (!isFolder(path)) return openFile(path);
  const { kind } = await requireKind(path, ["eval", "select", "rollout", "pairs"]);
  if (kind === "eval" || kind === "select") return openScored(path, wanted);
  if (kind === "rollout") return openAnswers(path, wanted);
  if (kind === "pairs") return openPreferences(path);
  throw dataError(
    `${path} holds no run`,
    "Name a folder of eval, selection-demo, rollout or pairs, or a JSONL file.",
  );
}
