/** A policy by the name that --policy gives it: which one it is, without sampling from it. */

import { dataError, usageError } from "../core/errors.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { baseUrl } from "../providers/endpoint.ts";
import { aliasedPolicy, type LocatedPolicy } from "../runs/aliased-policy.ts";
import { realPath } from "../runs/whole-file.ts";

export const OPENAI = "openai:";

/** The policy and where it lies: a checkpoint is read and its content hashed. */
export async function namedPolicy(given: string): Promise<LocatedPolicy> {
  const source = aliasedPolicy(given)?.source ?? given;
  if (source.startsWith(OPENAI)) return { source, identity: endpointIdentity(source) };
  // Loaded lazily: an endpoint does not need the engine.
  const { loadCheckpoint } = await import("../policy/checkpoint.ts");
  const { checkpointFolder, PI0 } = await import("../policy/pi0.ts");
  const { fingerprint } = await loadCheckpoint(given);
  const dir = checkpointFolder(given);
  return {
    source: realPath(dir) === realPath(PI0) ? "pi0" : dir,
    identity: { kind: "checkpoint", fingerprint },
  };
}

/** As a rollout from it records it. */
function endpointIdentity(source: string): JsonObject {
  const name = source.slice(OPENAI.length).trim();
  if (name === "") throw usageError("--policy openai: has no model name", "Use openai:MODEL.");
  return { kind: "openai", name, endpoint: baseUrl({ baseUrl: process.env.OPENAI_BASE_URL }) };
}

/** The alias of an endpoint's model is not that of the same name elsewhere. */
export function requireEndpoint(given: string, { source, identity }: LocatedPolicy): void {
  const here = endpointIdentity(source);
  if (canonicalJson(here) === canonicalJson(identity)) return;
  throw dataError(
    `${given} is ${source} at ${identity.endpoint}, and the endpoint here is ${here.endpoint}`,
    "Set OPENAI_BASE_URL to the endpoint that was promoted.",
  );
}
