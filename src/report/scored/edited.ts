/** The files of a run whose rows were counted again that are not what the run wrote. */

import type { RecountedRun } from "../../gate/recount.ts";
import { RESULTS } from "../../runs/artifacts.ts";

export async function editedOf(recount: RecountedRun): Promise<string[]> {
  const edited = new Set(recount.editedFiles());
  if (recount.otherAnswers() !== null) edited.add(RESULTS);
  for (const [name, hash] of Object.entries(recount.run.summary.files)) {
    if ((await recount.run.hashOf(name)) !== hash) edited.add(name);
  }
  return [...edited];
}
