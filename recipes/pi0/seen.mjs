// `node recipes/pi0/seen.mjs`: writes the prompts that π₀ learned from into assets/pi0, without training
// again. They are those of its training texts with what the completions hold. Whole texts, which `train`
// adds too, are left out: with them the asset would be larger than 1 MB.
import { createHash } from "node:crypto";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { PromptSet } from "lockedroom/core";
import { loadCheckpoint, saveCheckpoint, seenStatement } from "lockedroom/policy";
import { root } from "../lib.mjs";
import { lineOf, STAGES, textAt } from "./texts.mjs";

/** Of all texts of both stages, whose files the checkpoint must have learned from. */
function learnedPrompts({ learned_from: files }) {
  const learned = new PromptSet();
  // Most texts come again; normalising is the work.
  const known = new Set();
  const once = (text, add) => {
    if (known.has(text)) return;
    known.add(text);
    add(text);
  };
  for (const [i, { texts }] of STAGES.entries()) {
    const hash = createHash("sha256");
    for (let index = 0; index < texts; index++) {
      const text = textAt(i + 1, index);
      const { prompt, completion } = text;
      hash.update(lineOf(text));
      once(prompt, () => learned.add(prompt));
      once(completion, () => learned.addText(completion));
    }
    if (hash.digest("hex") !== files[i]) {
      throw new Error(`the checkpoint did not learn from the texts of stage ${i + 1}`);
    }
  }
  return learned;
}

export async function writeSeenPrompts(folder) {
  const { trained, ...content } = await loadCheckpoint(folder);
  const seen = { learned: learnedPrompts(trained), validated: new PromptSet() };
  const prompts = seenStatement(seen, true);
  return saveCheckpoint(folder, { ...content, trained: { ...trained, prompts }, seen });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await writeSeenPrompts(path.join(root, "assets/pi0")));
}
