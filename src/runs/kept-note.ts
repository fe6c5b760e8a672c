/** A person writes in a run note; what they wrote is not lost when the run is made again. */

import { readdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "../core/fingerprint.ts";
import { NOTE } from "./artifacts.ts";

const STAMP = /\n<!-- untouched ([0-9a-f]{64}) -->\n$/;

/** Marks a note so that we can tell later whether a person has written in it. */
export function stamped(note: string): string {
  return `${note}\n<!-- untouched ${sha256(note)} -->\n`;
}

/** A note that a person wrote in is theirs: it is set aside, never overwritten. */
export async function keepEditedNote(dir: string): Promise<void> {
  const note = await readFile(path.join(dir, NOTE), "utf8").catch(() => undefined);
  if (note === undefined || STAMP.exec(note)?.[1] === sha256(note.replace(STAMP, ""))) return;
  const taken = new Set(await readdir(dir));
  for (let n = 1; ; n++) {
    const name = `README.kept-${n}.md`;
    if (!taken.has(name)) return rename(path.join(dir, NOTE), path.join(dir, name));
  }
}
