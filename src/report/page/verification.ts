/** What `verify` found, as a sentence. */

import { readVerification, verificationLine } from "../../runs/verification.ts";

/** Undefined where the run was not verified. */
export async function verificationOf(dir: string): Promise<string | undefined> {
  const read = await readVerification(dir);
  return read && sentenceOf(verificationLine(read));
}

export const sentenceOf = (line: string): string =>
  `${line.charAt(0).toUpperCase()}${line.slice(1)}.`;
