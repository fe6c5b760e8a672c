// Start policies of the environments: weights from scratch, trained on texts of scripted players.
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { initialise, nothingSeen, SIZES, saveCheckpoint } from "lockedroom/policy";
import { bytePairs } from "./byte-pairs.mjs";
import { lockedroom, root, runFolder, secondsOf } from "./lib.mjs";

const SEED = 0;

/** The start policy as it is stored in the repository. */
export const storedStart = (name) => path.join("recipes", name, "start");

/**
 * Makes the start policy of a recipe in the folder of its runs: a nano of so many layers, whose
 * tokenizer is learned from the texts, trained by `train sft` in stages. Returns the checkpoint and
 * how long training took.
 */
export async function makeStart({ name, layers, context, pattern, readable, stages, threads = 2 }) {
  const folder = runFolder(name, "start");
  const texts = stages.flatMap((stage) => stage.texts.flatMap(partsOf));
  const tokenizer = bytePairs([...texts, ...readable], { pattern, size: 512 });
  const architecture = { ...SIZES.nano, layers, vocabulary: tokenizer.size };
  let init = path.join(folder, "initial");
  await saveCheckpoint(path.join(root, init), {
    ...{ architecture, tokenizer, maxLength: context, trained: null },
    parameters: initialise(architecture, SEED),
    seen: nothingSeen(),
  });
  let seconds = 0;
  for (const [i, stage] of stages.entries()) {
    const file = path.join(folder, `texts-${i + 1}.jsonl`);
    mkdirSync(path.join(root, folder), { recursive: true });
    const fits = (text) => tokensOf(text, tokenizer) <= context;
    const lines = stage.texts.filter(fits).map((text) => `${JSON.stringify(text)}\n`);
    writeFileSync(path.join(root, file), lines.join(""));
    const outdir = path.join(folder, `stage-${i + 1}`);
    lockedroom(
      ...["train", "sft", "--dataset", file, "--init", init, "--seed", SEED, "--outdir", outdir],
      ...["--batch", stage.batch, "--steps", stage.steps, "--lr", stage.lr, "--warmup", 50],
      // The loss rises at the start of each stage, because of the new texts and the warm-up.
      ...["--set", "alarms_stop=false", "--threads", threads],
    );
    seconds += secondsOf(outdir);
    init = path.join(outdir, "checkpoint");
  }
  return { checkpoint: init, seconds };
}

/** Makes the start policy and stores it in the repository. */
export async function storeStart(settings) {
  const { checkpoint, seconds } = await makeStart(settings);
  const target = path.join(root, storedStart(settings.name));
  rmSync(target, { recursive: true, force: true });
  cpSync(path.join(root, checkpoint), target, { recursive: true });
  console.log(`${storedStart(settings.name)}: ${Math.round(seconds)} s of training`);
}

/** A copy of the stored start policy, because a checkpoint keeps a list of its rollouts. */
export function startOf(name, folder = name) {
  const stored = path.join(root, storedStart(name));
  if (!existsSync(stored)) throw new Error(`make it first: node recipes/${name}/make.mjs`);
  const copy = runFolder(folder, "from");
  cpSync(stored, path.join(root, copy), { recursive: true });
  return copy;
}

function partsOf({ prompt, completion, messages }) {
  return messages ? messages.map(({ content }) => content) : [prompt, completion];
}

/** With a token at the beginning and one after each answer. */
function tokensOf(text, tokenizer) {
  const parts = partsOf(text);
  const ends = text.messages?.filter(({ role }) => role === "assistant").length ?? 1;
  return parts.reduce((sum, part) => sum + tokenizer.encode(part).length, 1 + ends);
}
