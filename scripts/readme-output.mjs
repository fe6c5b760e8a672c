// Runs the README's console blocks in a folder of their own and returns the README with their real
// output filled in. `npm run readme` writes it back; a test checks that nothing would change.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { fillConsoleBlocks, inFreshFolder, root } from "./console-blocks.mjs";
import { ensureReady } from "./setup.mjs";

const PICTURES = { "docs/images/goodhart.svg": "runs/goodhart/goodhart.svg" };

/** The README with real output, and the pictures that its runs drew, by path. */
export async function withRealOutput(text) {
  ensureReady();
  return inFreshFolder(async (folder) => {
    const readme = await fillConsoleBlocks(text, folder);
    const images = Object.fromEntries(
      Object.entries(PICTURES).map(([name, drawn]) => [
        name,
        readFileSync(path.join(folder, drawn), "utf8"),
      ]),
    );
    return { readme, images };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const file = path.join(root, "README.md");
  const { readme, images } = await withRealOutput(readFileSync(file, "utf8"));
  writeFileSync(file, readme);
  for (const [name, image] of Object.entries(images)) writeFileSync(path.join(root, name), image);
}
