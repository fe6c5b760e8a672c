/** The files below a folder, for whoever looks for one by its content. */

import { readdir, stat } from "node:fs/promises";
import path from "node:path";

export interface FileBelow {
  readonly file: string;
  readonly bytes: number;
}

export interface FilesBelow {
  /** Those that lie least deep first, then by name. */
  readonly files: readonly FileBelow[];
  /** False when there are more than are looked at. */
  readonly complete: boolean;
}

/** Enough for a workspace, and soon read. */
export const MOST_FILES = 20_000;

/** Hidden folders, node_modules and links to folders are left out, and so is what cannot be read. */
export async function filesBelow(root: string, most = MOST_FILES): Promise<FilesBelow> {
  const files: FileBelow[] = [];
  let level = [root];
  while (level.length > 0) {
    const next: string[] = [];
    for (const folder of level) {
      for (const entry of await entriesOf(folder)) {
        const place = path.join(folder, entry.name);
        if (entry.isDirectory()) {
          if (!entry.name.startsWith(".") && entry.name !== "node_modules") next.push(place);
          continue;
        }
        const found = await stat(place).catch(() => undefined);
        if (!found?.isFile()) continue;
        if (files.length === most) return { files, complete: false };
        files.push({ file: place, bytes: found.size });
      }
    }
    level = next;
  }
  return { files, complete: true };
}

async function entriesOf(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
