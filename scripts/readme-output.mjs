// Runs the README's console blocks in a folder of their own and returns the README with their real
// output filled in. `npm run readme` writes it back; a test checks that nothing would change.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { fillConsoleBlocks, inFreshFolder, root } from "./console-blocks.mjs";
import { ensureReady } from "./setup.mjs";

/** The README with real output. */
export async function withRealOutput(text) {
  ensureReady();
  return inFreshFolder((folder) => fillConsoleBlocks(text, folder));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const file = path.join(root, "README.md");
  writeFileSync(file, await withRealOutput(readFileSync(file, "utf8")));
}
