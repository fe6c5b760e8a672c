/** The adapter_config.json of a LoRA adapter: PEFT's own fields, and a block of ours. */

import { z } from "zod";
import { dataError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { objectOf } from "./hf-folder.ts";
import type { LoraSettings } from "./lora.ts";

export const ADAPTER_SCHEMA = "lockedroom.adapter@1";

/** What of PEFT's fields says something; the others have to be there for PEFT. */
const CONFIG = z.looseObject({
  peft_type: z.literal("LORA"),
  r: z.int().min(1),
  lora_alpha: z.number().positive(),
  target_modules: z.array(z.string()).min(1),
});

const BLOCK = z.strictObject({
  schema: z.literal(ADAPTER_SCHEMA),
  base_fingerprint: z.string(),
  merged_fingerprint: z.string(),
  /** Whether the merged policy has a value head, one that says 0 where the base has none. */
  value_head: z.boolean(),
  /** SHA-256 of each other file. */
  files: z.record(z.string(), z.string()),
  trained: z.record(z.string(), z.json()).nullable(),
  /** Of this file without this line. */
  config_sha256: z.string(),
});

export interface AdapterDescription {
  readonly settings: LoraSettings;
  /** Fingerprint of the policy that it belongs to. */
  readonly base: string;
  /** Fingerprint of the two together. */
  readonly merged: string;
  readonly valueHead: boolean;
  /** What it was trained on; null when nobody said. */
  readonly trained: JsonObject | null;
  readonly files: Readonly<Record<string, string>>;
}

export function adapterConfig(adapter: AdapterDescription): string {
  const { rank, alpha, targets } = adapter.settings;
  const block = {
    schema: ADAPTER_SCHEMA,
    base_fingerprint: adapter.base,
    merged_fingerprint: adapter.merged,
    value_head: adapter.valueHead,
    files: adapter.files,
    trained: adapter.trained,
  };
  const config = {
    ...{ peft_type: "LORA", task_type: "CAUSAL_LM", base_model_name_or_path: null },
    ...{ r: rank, lora_alpha: alpha, target_modules: targets },
    ...{ bias: "none", lora_dropout: 0, fan_in_fan_out: false, inference_mode: true },
    lockedroom: block,
  };
  const whole = { ...config, lockedroom: { ...block, config_sha256: fingerprint(config) } };
  return `${JSON.stringify(JSON.parse(canonicalJson(whole)), null, 2)}\n`;
}

export function readAdapterConfig(text: string, file: string): AdapterDescription {
  const content = objectOf(text, file);
  const { lockedroom, ...rest } = content;
  if (lockedroom === undefined) {
    throw dataError(
      `${file} does not say which policy the adapter belongs to`,
      "Only adapters that a training run of this program wrote are read.",
    );
  }
  const config = checked(CONFIG, content, file, "");
  const found = checked(BLOCK, lockedroom, file, "lockedroom.");
  const { config_sha256, ...block } = found;
  if (fingerprint({ ...rest, lockedroom: block }) !== config_sha256) throw damagedAdapter(file);
  return {
    settings: { rank: config.r, alpha: config.lora_alpha, targets: config.target_modules },
    base: found.base_fingerprint,
    merged: found.merged_fingerprint,
    valueHead: found.value_head,
    trained: found.trained as JsonObject | null,
    files: found.files,
  };
}

function checked<T>(schema: z.ZodType<T>, value: unknown, file: string, prefix: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw dataError(
    `${file}: ${prefix}${issue?.path.join(".")}: ${issue?.message}`,
    "It was edited, or written by a newer release. Write the adapter again.",
  );
}

export function damagedAdapter(file: string): Error {
  return dataError(
    `${file} is not the file that the adapter was written with`,
    "It was damaged, edited or exchanged. Take the whole folder from where it came, or train again.",
  );
}
