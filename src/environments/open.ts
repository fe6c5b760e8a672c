/** Opens an environment by its embedded name or from a file, with the identity of its code. */

import path from "node:path";
import { fileURLToPath } from "node:url";
import { ENVIRONMENT_ERROR } from "../core/environment.ts";
import { dataError, type LockedRoomError, usageError } from "../core/errors.ts";
import { INVALID_EXAMPLE, isName, MISSING_COMPLETION, SCORER_ERROR } from "../core/score.ts";
import { nearestName } from "../core/spelling.ts";
import { importTwice, requireFile } from "../extensions/module.ts";
import { sourceFingerprint } from "../extensions/source.ts";
import { type AnyDefinition, EMBEDDED } from "./catalogue.ts";
import { OUT_OF_TURNS } from "./definition.ts";
import { guarded } from "./guard.ts";

/** Who gave the observations and rewards: the manifest's `environment`. */
export interface EnvironmentIdentity {
  readonly name: string;
  readonly version: string;
  readonly spec: string;
  readonly source_sha256: string;
  /** The file as the user named it; null for an embedded one. */
  readonly path: string | null;
}

export interface OpenedEnvironment {
  readonly definition: AnyDefinition;
  readonly identity: EnvironmentIdentity;
}

/** How long one call of a user's environment may take. */
export const DEFAULT_STEP_LIMIT_MS = 2000;

export async function openEnvironment(
  given: string,
  limitMs = DEFAULT_STEP_LIMIT_MS,
): Promise<OpenedEnvironment> {
  const embedded = EMBEDDED.get(given);
  if (embedded) {
    const { definition, module } = embedded;
    const extension = path.extname(import.meta.url);
    const file = fileURLToPath(new URL(`./${module}${extension}`, import.meta.url));
    return { definition, identity: identityOf(definition, sourceFingerprint(file), null) };
  }
  if (!/\.[cm]?[jt]s$/.test(given)) {
    const near = nearestName(given, EMBEDDED.keys());
    throw usageError(
      `there is no environment named ${given}`,
      `${near === undefined ? "" : `Did you mean ${near}? `}Choose one of ${[...EMBEDDED.keys()].join(", ")}, or give a .ts or .js file or openenv:URL.`,
    );
  }
  requireFile(given, "environment", "Check the path, or choose a name of env list.");
  const [module, again] = await importTwice(given, "environment");
  const loaded = {
    definition: definitionIn(module.exports, given),
    again: definitionIn(again.exports, given),
    sight: module.sight,
  };
  const identity = identityOf(loaded.definition, module.source_sha256, given);
  return { definition: guarded(loaded, limitMs), identity };
}

function identityOf(
  { name, version, spec }: AnyDefinition,
  source_sha256: string,
  file: string | null,
): EnvironmentIdentity {
  return { name, version, spec, source_sha256, path: file };
}

/** What a definition must have, with a test for each. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  name: isPlainName,
  version: isPlainName,
  spec: (value) => typeof value === "string" && value !== "",
  codes: isListOfNames,
  solved: isListOfNames,
  rewards: (value) => value === null || isRange(value),
  maxTurns: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  random: (value) => typeof value === "boolean",
  tasks: isFunction,
  reset: isFunction,
  step: isFunction,
  ansi: isFunction,
  players: (value) => isFunction((value as { idle?: unknown } | null)?.idle),
};

function definitionIn(module: Record<string, unknown>, file: string): AnyDefinition {
  const found = [module, module.default].find(
    (one) => typeof (one as Record<string, unknown> | undefined)?.step === "function",
  ) as Record<string, unknown> | undefined;
  if (!found) throw notAnEnvironment(file, "it exports no function `step`");
  for (const [key, isRight] of Object.entries(FIELDS)) {
    if (!isRight(found[key])) throw notAnEnvironment(file, `\`${key}\` is missing or wrong`);
  }
  const definition = found as unknown as AnyDefinition;
  const { codes, solved } = definition;
  const taken = codes.find((code) => RESERVED.includes(code));
  if (taken) throw notAnEnvironment(file, `\`codes\` has ${taken}, which is the harness's own`);
  const unknown = solved.find((code) => code !== OUT_OF_TURNS && !codes.includes(code));
  if (unknown) throw notAnEnvironment(file, `\`solved\` has ${unknown}, which is not in \`codes\``);
  return definition;
}

/** Codes of rows that nothing was measured on: an environment could hide lost episodes behind them. */
const RESERVED: readonly string[] = [
  ...[ENVIRONMENT_ERROR, MISSING_COMPLETION, INVALID_EXAMPLE, SCORER_ERROR],
];

function notAnEnvironment(file: string, problem: string): LockedRoomError {
  return dataError(
    `${file} is not an environment: ${problem}`,
    "Export an EnvironmentDefinition as default; docs/environments.md has a complete one.",
  );
}

function isPlainName(value: unknown): boolean {
  return typeof value === "string" && isName(value);
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every(isPlainName);
}

function isRange(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every(Number.isFinite) &&
    Number(value[0]) < Number(value[1])
  );
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
