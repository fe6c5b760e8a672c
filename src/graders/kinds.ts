/**
 * The kinds of graders that can be opened. A new kind is a file with an `OpenKind` and a row here;
 * each is loaded when a grader of it is opened, and its file is part of that grader's identity.
 */

import path from "node:path";
import { fileURLToPath } from "node:url";
import type { GraderType, SingleGrader } from "./grader-schema.ts";
import type { OpenKind } from "./opened.ts";

type SingleType = SingleGrader["type"];

interface Kind<T extends SingleType> {
  /** The file beside this one, without its extension. */
  readonly module: string;
  /** Whether opening and running it only computes, so that it is safe for anybody's JSON. */
  readonly exact: boolean;
  /** Whether it runs where it can do no harm, so that it is safe for anybody's JSON, too. */
  readonly sandboxed?: boolean;
  load(): Promise<OpenKind<Extract<SingleGrader, { type: T }>>>;
}

const KINDS: { readonly [T in SingleType]: Kind<T> } = {
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
  python: {
    module: "python",
    exact: false,
    sandboxed: true,
    load: async () => (await import("./python.ts")).openPython,
  },
  score_model: {
    module: "score-model",
    exact: false,
    load: async () => (await import("./score-model.ts")).openScoreModel,
  },
  label_model: {
    module: "label-model",
    exact: false,
    load: async () => (await import("./label-model.ts")).openLabelModel,
  },
  endpoint: {
    module: "endpoint",
    exact: false,
    load: async () => (await import("./endpoint.ts")).openEndpoint,
  },
};

export async function loadKind(type: SingleType): Promise<OpenKind<SingleGrader>> {
  return (await KINDS[type].load()) as OpenKind<SingleGrader>;
}

/** Whether graders of these types only compute. */
export function areExact(types: readonly GraderType[]): boolean {
  return types.every((type) => type === "multi" || KINDS[type].exact);
}

/** Whether graders of these types can be run whoever wrote them. */
export function areSafe(types: readonly GraderType[]): boolean {
  return types.every((type) => type === "multi" || KINDS[type].exact || KINDS[type].sandboxed);
}

/** The files whose code decides what graders of these types give. */
export function filesOf(types: Iterable<GraderType>): string[] {
  const modules = [...new Set(types)].map((type) =>
    type === "multi" ? "multi" : KINDS[type].module,
  );
  return ["outcome", ...modules.sort()].map(beside);
}

function beside(module: string): string {
  return fileURLToPath(new URL(`./${module}${path.extname(import.meta.url)}`, import.meta.url));
}
