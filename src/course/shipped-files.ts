/** What `init` wrote and nobody has changed since: it shows no work. */

import path from "node:path";
import { usageError } from "../core/index.ts";
import { PACKAGE_ROOT, TEMPLATES } from "./workspace.ts";
import { fileSha256, filesBelow } from "./workspace-files.ts";

/** Refuses a file that is as it was shipped, and a folder in which every file is. */
export async function requireOwnWork(dir: string, name: string, role: string): Promise<void> {
  const below = await filesBelow(dir, name);
  const files = below.length > 0 ? below : [name];
  for (const file of files) if (!(await isAsShipped(dir, file))) return;
  throw usageError(
    `${role}: ${name} is as it was shipped, so that it shows no work`,
    "Link what you wrote or ran: a note, a run, a report.",
  );
}

async function isAsShipped(dir: string, file: string): Promise<boolean> {
  if (path.posix.basename(file) === ".gitkeep") return true;
  const hash = await fileSha256(path.join(dir, file));
  for (const root of [TEMPLATES, PACKAGE_ROOT])
    if (hash !== undefined && hash === (await fileSha256(path.join(root, file)))) return true;
  return false;
}
