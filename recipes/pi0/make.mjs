// `npm run pi0`: trains the embedded policy π₀. Same bytes every time on the same kind of processor;
// about a quarter of an hour on two idle cores.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CharacterTokenizer, initialise, SIZES, saveCheckpoint } from "lockedroom/policy";
import { lockedroom, root } from "../lib.mjs";
import { writeSeenPrompts } from "./seen.mjs";
import { STAGES, writeTexts } from "./texts.mjs";

const SEED = 0;
const BATCH = 64;

/** Nano with a third layer: about 0.15 million parameters. */
const tokenizer = new CharacterTokenizer("\n *+,-.0123456789:<=>CFRTaehilmnoprstuwy");
const architecture = { ...SIZES.nano, layers: 3, vocabulary: tokenizer.size };
/** Of the longest prompt and 32 tokens, rounded up. */
const CONTEXT_LENGTH = 80;

const work = mkdtempSync(path.join(tmpdir(), "lockedroom-pi0-"));
const target = path.join(root, "assets/pi0");
try {
  let init = path.join(work, "initial");
  const parameters = initialise(architecture, SEED);
  const made = { architecture, tokenizer, parameters, maxLength: CONTEXT_LENGTH, trained: null };
  await saveCheckpoint(init, made);
  for (const [i, { texts, steps, lr, warmup, decay }] of STAGES.entries()) {
    const stage = i + 1;
    const file = path.join(work, `texts-${stage}.jsonl`);
    const outdir = path.join(work, `stage-${stage}`);
    writeTexts(file, stage, texts);
    lockedroom(
      ...["train", "sft", "--dataset", file, "--init", init, "--seed", SEED],
      ...["--batch", BATCH, "--steps", steps, "--lr", lr, "--warmup", warmup],
      ...["--set", `adam.weight_decay=${decay}`],
      // The loss rises at the start of each stage, because of the new data and the warm-up.
      ...["--set", "alarms_stop=false"],
      ...["--save-every", "500", "--threads", "2", "--outdir", outdir],
    );
    init = path.join(outdir, "checkpoint");
  }
  await writeSeenPrompts(init);
  rmSync(target, { recursive: true, force: true });
  cpSync(init, target, { recursive: true });
} finally {
  rmSync(work, { recursive: true, force: true });
}
