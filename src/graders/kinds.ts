/**
 * The kinds of graders that can be opened. A new kind is a file with an `OpenKind` and a row here;
 * each is loaded when a grader of it is opened, and its file is part of that grader's identity.
 */

import path from "node:path";
import { fileURLToPath } from "node:url";
import { usageError } from "../core/errors.ts";
import type { GraderType, SingleGrader } from "./grader-schema.ts";
import type { OpenKind } from "./opened.ts";

type SingleType = SingleGrader["type"];

interface Kind<T extends SingleType> {
  /** The file beside this one, without its extension. */
  readonly module: string;
  /** Whether opening and running it only computes, so that it is safe for anybody's JSON. */
  readonly exact: boolean;
  load(): Promise<OpenKind<Extract<SingleGrader, { type: T }>>>;
}

const KINDS: { readonly [T in SingleType]?: Kind<T> } = {
  string_check: {
    module: "string-check",
    exact: true,
    load: async () => (await import("./string-check.ts")).openStringCheck,
  },
  text_similarity: {
    module: "text-similarity",
    exact: true,
    load: async () => (await import("./text-similarity.ts")).openTextSimilarity,
  },
};

export async function loadKind(type: SingleType, where: string): Promise<OpenKind<SingleGrader>> {
  const kind = KINDS[type];
  if (kind) return (await kind.load()) as OpenKind<SingleGrader>;
  throw usageError(
    `${where}: a grader of the type ${type} cannot be run here`,
    `Types that can: ${[...Object.keys(KINDS), "multi"].join(", ")}.`,
  );
}

/** Whether graders of these types only compute. */
export function areExact(types: readonly GraderType[]): boolean {
  return types.every((type) => type === "multi" || KINDS[type]?.exact === true);
}

/** The files whose code decides what graders of these types give. */
export function filesOf(types: Iterable<GraderType>): string[] {
  const modules = [...new Set(types)].map((type) =>
    type === "multi" ? "multi" : (KINDS[type]?.module ?? ""),
  );
  return ["outcome", ...modules.filter((module) => module !== "").sort()].map(beside);
}

function beside(module: string): string {
  return fileURLToPath(new URL(`./${module}${path.extname(import.meta.url)}`, import.meta.url));
}
