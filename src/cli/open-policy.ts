/** Opens the policy that --policy names: a checkpoint, or a model behind an endpoint. */

import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ActingPolicy } from "../core/actor.ts";
import { dataError, ioError, usageError } from "../core/errors.ts";
import type { SamplingSettings } from "../core/policy.ts";
import { aliasedPolicy } from "../runs/aliased-policy.ts";
import { OPENAI, requireEndpoint } from "./named-policy.ts";

export async function readSystem(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error) => {
    throw ioError(`read ${file}`, error, "data");
  });
  if (!isUtf8(bytes)) throw dataError(`${file}: not valid UTF-8`, "Save the file as UTF-8.");
  return new TextDecoder().decode(bytes);
}

/** What says which policy samples, and how. */
export interface PolicyFlags extends Pick<SamplingSettings, "temperature" | "seed"> {
  readonly policy: string;
  readonly topP: number;
  readonly topK: number;
  readonly maxTokens: number;
  readonly stop?: string[];
  readonly concurrency: number;
}

/**
 * `rules` are the system prompt of an endpoint where none is given: a chat model cannot know the
 * game otherwise. A checkpoint has learned it from observations, and may have no chat template.
 */
export async function openPolicy(
  flags: PolicyFlags,
  system: string | undefined,
  onNotice: (text: string) => void,
  rules?: string,
): Promise<ActingPolicy> {
  const { temperature, topK: top_k, topP: top_p, maxTokens: max_tokens, stop = [], seed } = flags;
  const sampling = { temperature, top_k, top_p, max_tokens, stop, seed };
  const aliased = aliasedPolicy(flags.policy);
  if (aliased?.source.startsWith(OPENAI)) {
    requireEndpoint(flags.policy, aliased);
    const source = { ...flags, policy: aliased.source };
    return openEndpoint(source, sampling, system ?? rules, onNotice);
  }
  if (flags.policy.startsWith(OPENAI)) {
    return openEndpoint(flags, sampling, system ?? rules, onNotice);
  }
  const prefix = /^[A-Za-z][A-Za-z0-9+.-]+:/.exec(flags.policy)?.[0];
  if (prefix !== undefined && !aliased && !existsSync(flags.policy)) {
    throw usageError(
      `unknown kind of policy: ${prefix}`,
      "Use a checkpoint folder, pi0, alias:NAME, or openai:MODEL.",
    );
  }
  // Loaded lazily: an endpoint does not need the engine.
  const { openEmbeddedPolicy } = await import("../policy/embedded.ts");
  return openEmbeddedPolicy(flags.policy, { sampling, system, timed: true });
}

async function openEndpoint(
  flags: PolicyFlags,
  sampling: SamplingSettings,
  system: string | undefined,
  onNotice: (text: string) => void,
): Promise<ActingPolicy> {
  const model = flags.policy.slice(OPENAI.length).trim();
  if (model === "") throw usageError("--policy openai: has no model name", "Use openai:MODEL.");
  const { env } = process;
  const apiKey = env.OPENAI_API_KEY?.trim() ?? "";
  if (apiKey === "") {
    throw usageError(
      "OPENAI_API_KEY is not set",
      "Set it to the key of the endpoint; for a server without keys, to any text.",
    );
  }
  const { openOpenAiPolicy } = await import("../providers/openai.ts");
  return openOpenAiPolicy({
    ...{ model, sampling, system, apiKey, onNotice, concurrency: flags.concurrency },
    baseUrl: env.OPENAI_BASE_URL,
    organization: env.OPENAI_ORG_ID,
    project: env.OPENAI_PROJECT_ID,
    secrets: gatewaySecrets(env.OPENAI_CUSTOM_HEADERS),
  });
}

/** The client sends these headers by itself; their values may be secrets. */
export function gatewaySecrets(headers = ""): string[] {
  return headers
    .split("\n")
    .map((line) => line.slice(line.indexOf(":") + 1).trim())
    .flatMap((value) => [value, value.replace(/^Bearer +/i, "")]);
}
