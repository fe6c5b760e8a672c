/** Reads the body of a fine-tuning job in any documented shape, and gives the present one. */

import type { Json, JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";

export interface ReadJob {
  readonly job: JsonObject;
  /** What was written in another way, or left out, as sentences. */
  readonly changes: readonly string[];
}

const METHODS = ["supervised", "dpo", "reinforcement"] as const;

/** Settings that older pages have directly under `dpo`. */
const DPO_SETTINGS = [
  "beta",
  "l2_multiplier",
  "n_epochs",
  "batch_size",
  "learning_rate_multiplier",
];

export function readJob(body: JsonObject): ReadJob {
  const changes: string[] = [];
  const { prompt_loss_weight: dropped, hyperparameters, ...job } = body;
  if (dropped !== undefined)
    changes.push("prompt_loss_weight is left out: no service reads it now");
  const method = isFields(job.method) ? (job.method as JsonObject) : undefined;
  if (hyperparameters !== undefined && method)
    changes.push("the top-level hyperparameters are left out: a job with a method ignores them");
  if (hyperparameters !== undefined && !method) {
    changes.push("the top-level hyperparameters are now those of the method supervised");
    const supervised = { hyperparameters };
    return { job: { ...job, method: { type: "supervised", supervised } }, changes };
  }
  return { job: method ? { ...job, method: readMethod(method, changes) } : job, changes };
}

function readMethod(method: JsonObject, changes: string[]): JsonObject {
  const type = METHODS.find((name) => name === method.type) ?? METHODS.find((name) => method[name]);
  const settings = type && isFields(method[type]) ? (method[type] as JsonObject) : undefined;
  if (!type || !settings) return method;
  if (type === "dpo") return { ...method, type, dpo: readDpo(settings, changes) };
  if (type !== "reinforcement" || !isFields(settings.response_format)) return { ...method, type };
  const format = readResponseFormat(settings.response_format as JsonObject);
  if (format !== settings.response_format)
    changes.push("response_format is now nested in json_schema");
  return { ...method, type, reinforcement: { ...settings, response_format: format } };
}

function readDpo(settings: JsonObject, changes: string[]): JsonObject {
  const moved = DPO_SETTINGS.filter((name) => settings[name] !== undefined);
  if (moved.length === 0) return settings;
  changes.push(`${moved.join(", ")} of dpo now stand under hyperparameters`);
  const others = Object.entries(settings).filter(([name]) => !moved.includes(name));
  const own = isFields(settings.hyperparameters) ? (settings.hyperparameters as JsonObject) : {};
  const values = Object.fromEntries(moved.map((name) => [name, settings[name] as Json]));
  return { ...Object.fromEntries(others), hyperparameters: { ...values, ...own } };
}

/**
 * Two shapes are documented: flat (`name`, `schema`, `strict` beside `type`), and nested under
 * `json_schema`, as in chat requests. The nested one is given back.
 */
export function readResponseFormat(format: JsonObject): JsonObject {
  if (format.type !== "json_schema" || isFields(format.json_schema)) return format;
  const { type, ...schema } = format;
  return { type, json_schema: schema };
}
