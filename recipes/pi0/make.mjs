// Makes the embedded policy π₀ anew: `npm run pi0`. The same bytes every time on the same kind of
// processor, in about twenty minutes on two cores that have nothing else to do.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { lockedroom, root } from "../lib.mjs";
import { writeTexts } from "./texts.mjs";

const STAGES = [
  { texts: 400_000, steps: 7000, lr: 0.004, warmup: 100 },
  { texts: 150_000, steps: 2500, lr: 0.0015, warmup: 50 },
  { texts: 300_000, steps: 5000, lr: 0.002, warmup: 50 },
  { texts: 80_000, steps: 600, lr: 0.0005, warmup: 20 },
];
const BATCH = 128;

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
      // Each stage begins with another mixture and a fresh rise of the rate, so that its loss rises.
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
