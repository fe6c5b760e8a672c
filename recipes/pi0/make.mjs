// `npm run pi0`: trains the embedded policy π₀. Same bytes every time on the same kind of processor;
// about twenty minutes on two idle cores.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { lockedroom, root } from "../lib.mjs";
import { writeTexts } from "./texts.mjs";

const STAGES = [
  { texts: 600_000, steps: 22_000, lr: 0.003, warmup: 200 },
  { texts: 100_000, steps: 1000, lr: 0.0003, warmup: 20 },
];
const BATCH = 64;

const work = mkdtempSync(path.join(tmpdir(), "lockedroom-pi0-"));
const target = path.join(root, "assets/pi0");
try {
  let init = "scratch";
  for (const [i, { texts, steps, lr, warmup }] of STAGES.entries()) {
    const stage = i + 1;
    const file = path.join(work, `texts-${stage}.jsonl`);
    const outdir = path.join(work, `stage-${stage}`);
    writeTexts(file, stage, texts);
    lockedroom(
      ...["train", "sft", "--dataset", file, "--init", init, "--size", "nano", "--seed", "0"],
      ...["--batch", BATCH, "--steps", steps, "--lr", lr, "--warmup", warmup],
      // The loss rises at the start of each stage, because of the new data and the warm-up.
      ...["--set", "alarms_stop=false"],
      ...["--save-every", "500", "--threads", "2", "--outdir", outdir],
    );
    init = path.join(outdir, "checkpoint");
  }
  rmSync(target, { recursive: true, force: true });
  cpSync(init, target, { recursive: true });
} finally {
  rmSync(work, { recursive: true, force: true });
}
