// Makes the embedded policy π₀ anew: `npm run pi0`. The same bytes every time, in about ten minutes on
// two cores.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { writeTexts } from "./texts.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const work = mkdtempSync(path.join(tmpdir(), "lockedroom-pi0-"));
const target = path.join(root, "assets/pi0");
const settings = [
  "--size",
  "nano",
  "--batch",
  "128",
  "--steps",
  process.argv[2] ?? "7000",
  "--seed",
  "0",
];
const rate = ["--lr", "0.004", "--warmup", "100", "--schedule", "cosine"];
try {
  writeTexts(path.join(work, "texts.jsonl"));
  const command = ["dist/cli/bin.js", "train", "sft", "--dataset", path.join(work, "texts.jsonl")];
  const outdir = ["--outdir", path.join(work, "run"), "--save-every", "500", "--threads", "2"];
  const { status } = spawnSync(process.execPath, [...command, ...settings, ...rate, ...outdir], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
  rmSync(target, { recursive: true, force: true });
  cpSync(path.join(work, "run/checkpoint"), target, { recursive: true });
} finally {
  rmSync(work, { recursive: true, force: true });
}
