/** `policy show` and `policy merge` for adapters. */

import { existsSync, realpathSync } from "node:fs";
import { usageError } from "../core/errors.ts";
import { visible } from "../core/visible.ts";
import { loadAdapter, mergedPolicy } from "../policy/adapter.ts";
import { ADAPTER_SCHEMA } from "../policy/adapter-config.ts";
import { loadCheckpoint, saveCheckpoint } from "../policy/checkpoint.ts";
import { checkpointFolder } from "../policy/pi0.ts";
import { namesIn } from "../runs/replace-folder.ts";
import { out, paint, print, printableJson, program, wrap } from "./terminal.ts";

export async function showAdapter(folder: string, format: "text" | "json" = "text") {
  const { settings, base, merged, trained, tensors } = await loadAdapter(folder);
  const { rank, alpha, targets } = settings;
  const parameters = [...tensors.values()].reduce((sum, { data }) => sum + data.length, 0);
  if (format === "json") {
    const prints = { base_fingerprint: base, merged_fingerprint: merged };
    const found = { schema: ADAPTER_SCHEMA, ...prints, rank, alpha, targets, parameters, trained };
    out(printableJson(found, 2));
    return;
  }
  out(paint("bold", wrap(visible(folder))));
  print(
    `LoRA adapter: ${parameters} parameters, rank ${rank}, alpha ${alpha}, for ${visible(targets.join(", "))}. Fingerprint of its base policy:`,
  );
  out(`  ${visible(base)}`);
  out("Fingerprint of the merged policy:");
  out(`  ${visible(merged)}`);
  print(`Next: ${program()} policy merge CHECKPOINT ${visible(folder)} --outdir NEW`);
}

export interface MergeFlags {
  readonly outdir?: string;
  readonly force?: boolean;
}

export async function mergeInto(
  base: string,
  folder: string | undefined,
  { outdir, force = false }: MergeFlags,
): Promise<void> {
  if (folder === undefined || outdir === undefined) {
    throw usageError(
      "policy merge needs a checkpoint, an adapter and --outdir",
      "Use: policy merge CHECKPOINT ADAPTER --outdir NEW.",
    );
  }
  await refuseOutdir(outdir, [checkpointFolder(base), folder], force);
  const content = mergedPolicy(await loadCheckpoint(base), await loadAdapter(folder));
  const fingerprint = await saveCheckpoint(outdir, content);
  print(`Merged ${visible(folder)} into ${visible(base)}.`);
  print(`Policy written to ${visible(outdir)}`);
  out(`  ${fingerprint}`);
  print(`Next: ${program()} policy show ${visible(outdir)}`);
}

/** The inputs must not be overwritten. */
async function refuseOutdir(outdir: string, inputs: string[], force: boolean): Promise<void> {
  const same = inputs.find((input) => realPath(input) === realPath(outdir));
  if (same !== undefined) {
    throw usageError(`--outdir ${same} is an input of the merge`, "Choose another --outdir.");
  }
  if (force || (await namesIn(outdir)).length === 0) return;
  throw usageError(
    `${outdir} is not empty`,
    "Choose another --outdir, or overwrite the checkpoint in it with --force.",
  );
}

function realPath(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : folder;
}
