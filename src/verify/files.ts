/** The run's own files. */

import { editedFiles } from "../gate/recount.ts";
import type { Run } from "../runs/reader.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { Comparison } from "./part.ts";

/** Hashes, and the counts of the summary against the rows. */
export async function verifyFiles(run: Run): Promise<VerificationPart> {
  const own = 3 + Object.keys(run.summary.files).length;
  return filesPart(await editedFiles(run), own);
}

export function filesPart(
  edited: readonly string[],
  files: number,
  what = "hashes, and counts of rows against the summary",
): VerificationPart {
  const comparison = new Comparison();
  comparison.repeated = files;
  for (const name of edited) comparison.differs(name, "content", "as written", "edited");
  return comparison.part("files", files, what);
}
