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
  for (const part of text.split(",").map((one) => one.trim())) {
    const [, name = "", number = ""] = /^([^=]*?)\s*=\s*(.*)$/.exec(part) ?? [];
    if (name === "")
      throw refused(
        part === "" ? `It is empty; ${KNOWN}` : `"${part}" is not key=number; ${KNOWN}`,
      );
    if (!KEYS.includes(name)) throw refused(`Unknown key ${name}; ${KNOWN}`);
    if (name in settings) throw refused(`${name} is given twice.`);
    const value = Number(number);
    if (number === "" || !Number.isFinite(value))
      throw refused(`${name}=${number}: the value must be a number.`);
    settings[name] = value;
  }
  return settings;
}

const KNOWN = `known keys: ${KEYS.join(", ")}.`;

function refused(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message);
}
