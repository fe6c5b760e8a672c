/** Options that state where completions come from, for those without a provenance file. */

import { InvalidArgumentError, Option } from "commander";
import { isName } from "../core/score.ts";

export const POLICY_NAME = "which policy sampled the completions, if no provenance file says so";

export function policyName(text: string): string {
  if (isName(text)) return text;
  throw new InvalidArgumentError("It must be a name of 1 to 100 visible characters.");
}

/** Settings that are numbers, by the names of the OpenAI and vLLM APIs. */
const KEYS = [
  ...["temperature", "top_p", "top_k", "min_p", "max_tokens", "seed"],
  ...["presence_penalty", "frequency_penalty", "repetition_penalty"],
];

export const SAMPLING = new Option(
  "--sampling <settings>",
  "how they were sampled, such as temperature=0.7,top_p=1,seed=3",
).argParser(samplingSettings);

function samplingSettings(text: string): Record<string, number> {
  const settings: Record<string, number> = {};
  for (const part of text.split(",")) {
    const [, name = "", number = ""] = /^\s*([^=]*?)\s*=\s*(\S+)\s*$/.exec(part) ?? [];
    const value = Number(number);
    if (!KEYS.includes(name) || number === "" || !Number.isFinite(value) || name in settings) {
      throw new InvalidArgumentError(
        `"${part.trim()}" is not key=number with a key of its own; the keys are ${KEYS.join(", ")}.`,
      );
    }
    settings[name] = value;
  }
  return settings;
}
