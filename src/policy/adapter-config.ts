/** The adapter_config.json of a LoRA adapter: PEFT's own fields, and our block. */

import { z } from "zod";
import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { BLOCK, objectOf, parseConfig, readBlock, signedConfig } from "./config-files.ts";
import type { LoraSettings } from "./lora.ts";

export const ADAPTER_SCHEMA = "lockedroom.adapter@1";

/** Those of PEFT's fields that are read; the others are there for PEFT. */
const CONFIG = z.looseObject({
  peft_type: z.literal("LORA"),
  r: z.int().min(1),
  lora_alpha: z.number().positive(),
  target_modules: z.array(z.string()).min(1),
});

const ADAPTER_BLOCK = z.strictObject({
  ...BLOCK,
  schema: z.literal(ADAPTER_SCHEMA),
  base_fingerprint: z.string(),
  merged_fingerprint: z.string(),
});

export interface AdapterDescription {
  readonly settings: LoraSettings;
  /** Fingerprint of the base policy. */
  readonly base: string;
  /** Fingerprint of the merged policy. */
  readonly merged: string;
  /** Whether the merged policy has a value head: a new one, of zeros, where the base has none. */
  readonly valueHead: boolean;
  /** What it was trained on; null if unknown. */
  readonly trained: JsonObject | null;
  readonly files: Readonly<Record<string, string>>;
}

export function adapterConfig(adapter: AdapterDescription): string {
  const { rank, alpha, targets } = adapter.settings;
  const config = {
    ...{ peft_type: "LORA", task_type: "CAUSAL_LM", base_model_name_or_path: null },
    ...{ r: rank, lora_alpha: alpha, target_modules: targets },
    ...{ bias: "none", lora_dropout: 0, fan_in_fan_out: false, inference_mode: true },
  };
  return signedConfig(config, {
    schema: ADAPTER_SCHEMA,
    base_fingerprint: adapter.base,
    merged_fingerprint: adapter.merged,
    value_head: adapter.valueHead,
    files: adapter.files,
    trained: adapter.trained,
  });
}

export function readAdapterConfig(text: string, file: string): AdapterDescription {
  const content = objectOf(text, file);
  if (content.lockedroom === undefined) {
    throw dataError(
      `${file} does not say which policy the adapter belongs to`,
      "Only adapters that a training run of this program wrote are read.",
    );
  }
  const config = parseConfig(CONFIG, content, file, "adapter");
  const block = readBlock(ADAPTER_BLOCK, content, file, "adapter");
  return {
    settings: { rank: config.r, alpha: config.lora_alpha, targets: config.target_modules },
    base: block.base_fingerprint,
    merged: block.merged_fingerprint,
    valueHead: block.value_head,
    trained: block.trained,
    files: block.files,
  };
}
