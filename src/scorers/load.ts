/** Loads a scorer by built-in name, from a file or from an object, with the identity of its code. */

import path from "node:path";
import { fileURLToPath } from "node:url";
import { dataError, type LockedRoomError, usageError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { isFields } from "../core/records.ts";
import { isName, type Scorer, type ScorerIdentity } from "../core/score.ts";
import { importTwice, type LoadOptions, requireFile } from "../extensions/module.ts";
import { sourceFingerprint } from "../extensions/source.ts";
import { AXES } from "./axes/index.ts";
import type { LoadedScorer } from "./loaded.ts";
import { mathFinalLine } from "./math-final-line.ts";

export type { LoadedScorer };

export const DEFAULT_SCORER = mathFinalLine.name;

/** The module a built-in lives in, beside this one; the extension is that of the code running. */
const BUILT_IN = new Map<string, { readonly scorer: Scorer; readonly module: string }>([
  [mathFinalLine.name, { scorer: mathFinalLine, module: "math-final-line" }],
  ...AXES.map((scorer) => [scorer.name, { scorer, module: `axes/${scorer.name}` }] as const),
]);

/** Whether a scorer is given as the JSON of a grader. */
export function isGraderFile(given: string): boolean {
  return given.toLowerCase().endsWith(".json");
}

/**
 * Loads `math_final_line`, a TypeScript or JavaScript file that exports a scorer, the JSON file of a
 * grader, or an object.
 */
export async function loadScorer<F extends object>(
  given: string | Scorer<F> = DEFAULT_SCORER,
  options: LoadOptions = {},
): Promise<LoadedScorer> {
  const builtIn = builtInOf(given);
  if (builtIn) {
    const source = sourceFingerprint(fileOf(builtIn.module));
    return { ...identified(builtIn.scorer, source, null), again: builtIn.scorer, trusted: true };
  }
  if (typeof given !== "string") return fromObject(given as unknown as Record<string, unknown>);
  requireFile(
    given,
    "scorer",
    `Name a built-in (${[...BUILT_IN.keys()].join(", ")}), a .ts or .js file, or a grader's .json file.`,
  );
  // Only where it is asked for, so that other scorers load as fast as before.
  if (isGraderFile(given)) return (await import("./grader-file.ts")).loadGrader(given);
  const [module, again] = await importTwice(given, "scorer", options);
  const scorer = toScorer(module.exports, given);
  if (module.network && scorer.deterministic !== false)
    throw dataError(
      `${given}: the scorer used the network while it loaded, which only one with \`deterministic: false\` may`,
      "Read a file instead, or declare `deterministic: false`.",
    );
  const loaded = identified(scorer, module.source_sha256, given);
  const code_sha256 = sourceFingerprint(given);
  const more = code_sha256 === module.source_sha256 ? {} : { code_sha256 };
  return {
    ...{ scorer, identity: { ...loaded.identity, ...more } },
    again: toScorer(again.exports, given),
    trusted: false,
    sight: module.sight,
  };
}

function builtInOf(given: unknown) {
  if (typeof given === "string") return BUILT_IN.get(given);
  return [...BUILT_IN.values()].find(({ scorer }) => scorer === given);
}

/** An object's code is known only as the text of its function, which the identity records. */
function fromObject(given: Record<string, unknown>): LoadedScorer {
  if (!isFields(given) || (given.default !== undefined && typeof given.score !== "function"))
    throw usageError(
      "a scorer object has name, version, spec and score itself",
      "Pass such an object, such as the `default` of a module; or a file, or a built-in's name.",
    );
  const scorer = toScorer(given, "the object");
  const text = Function.prototype.toString.call(given.score);
  if (/\[native code\]\s*}\s*$/.test(text))
    throw badScorer("the object", "the text of its `score` cannot be read, as of a bound function");
  const { spec, codes = null, range } = scorer;
  const declared = { spec, codes, ...(range && { range: [...range] }) };
  const loaded = identified(scorer, fingerprint({ score: text, ...declared }), null);
  const identity = { ...loaded.identity, source: "function_text" as const };
  return { scorer, identity, again: scorer, trusted: false };
}

/**
 * The hash of a scorer's code as it is now, found without running it: a run may name any file. It is
 * that of `codeOf` if the code has not changed; undefined when it is no longer there.
 */
export function currentCode({
  name,
  path: file,
}: Pick<ScorerIdentity, "name" | "path">): string | undefined {
  const builtIn = BUILT_IN.get(name);
  if (file === null) return builtIn && sourceFingerprint(fileOf(builtIn.module));
  try {
    return sourceFingerprint(file);
  } catch {
    return undefined;
  }
}

/** The recorded hash of what can be known of a scorer without running it. */
export function codeOf(scorer: {
  readonly source_sha256: string;
  readonly code_sha256?: string | undefined;
}): string {
  return scorer.code_sha256 ?? scorer.source_sha256;
}

function identified(scorer: Scorer, source_sha256: string, file: string | null) {
  const { name, version, spec } = scorer;
  const declared = {
    ...(scorer.deterministic === false && { deterministic: false as const }),
    ...(scorer.classes && { classes: scorer.classes }),
    ...(scorer.range && { range: [...scorer.range] satisfies [number, number] }),
  };
  return { scorer, identity: { name, version, spec, source_sha256, path: file, ...declared } };
}

/** The file of a built-in scorer; undefined for any other name. */
export function builtInFile(name: string): string | undefined {
  const builtIn = BUILT_IN.get(name);
  return builtIn && fileOf(builtIn.module);
}

function fileOf(module: string): string {
  return fileURLToPath(new URL(`./${module}${path.extname(import.meta.url)}`, import.meta.url));
}

/** The plain names, or the constants that the built-in scorer exports. */
const NAMES = { name: "SCORER_NAME", version: "SCORER_VERSION", spec: "REWARD_SPEC" } as const;

export function toScorer(module: Record<string, unknown>, shown: string): Scorer {
  const candidates = [module, module.default as Record<string, unknown> | undefined];
  const found = candidates.find((c) => typeof c?.score === "function");
  if (!found) throw badScorer(shown, "it exports no function `score`");
  const text = (key: keyof typeof NAMES): string => {
    const value = found[key] ?? found[NAMES[key]];
    if (typeof value !== "string" || value === "")
      throw badScorer(shown, `\`${key}\` must be a non-empty string`);
    if (key !== "spec" && !isName(value))
      throw badScorer(shown, `\`${key}\` has invisible characters or is too long`);
    return value;
  };
  return {
    name: text("name"),
    version: text("version"),
    spec: text("spec"),
    score: (found.score as Scorer["score"]).bind(found),
    ...optional(found, shown),
  };
}

function optional(
  { codes, deterministic, classes, range }: Record<string, unknown>,
  shown: string,
): Pick<Scorer, "codes" | "deterministic" | "classes" | "range"> {
  if (codes !== undefined && !isListOfText(codes))
    throw badScorer(shown, "`codes` must be a list of names");
  if (deterministic !== undefined && typeof deterministic !== "boolean")
    throw badScorer(shown, "`deterministic` must be true or false");
  if (classes !== undefined && !isNamesByName(classes))
    throw badScorer(shown, "`classes` must be an object that gives outcome codes a name each");
  if (range !== undefined && !isRange(range))
    throw badScorer(shown, "`range` must be two numbers, the lowest reward and a higher one");
  return {
    ...(codes && { codes: [...codes] }),
    ...(deterministic === false && { deterministic }),
    ...(classes && { classes: { ...classes } }),
    ...(range && { range: [range[0], range[1]] }),
  };
}

function isRange(value: unknown): value is [number, number] {
  if (!Array.isArray(value) || value.length !== 2) return false;
  return value.every((end) => Number.isFinite(end)) && value[0] < value[1];
}

function isNamesByName(value: unknown): value is Record<string, string> {
  if (!isFields(value)) return false;
  return Object.entries(value)
    .flat()
    .every((name) => typeof name === "string" && isName(name));
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function badScorer(shown: string, problem: string): LockedRoomError {
  return dataError(
    `${shown} is not a scorer: ${problem}`,
    "Export name, version, spec and score(example, completion), or a default object with them.",
  );
}
