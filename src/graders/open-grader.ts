/** Opens a grader as a `Scorer`, so that one grader JSON serves every command that takes a scorer. */

import type { JsonObject } from "../core/json.ts";
import type { Scorer } from "../core/score.ts";
import { fault } from "./fault.ts";
import type { Grader, GraderType } from "./grader-schema.ts";
import { loadKind } from "./kinds.ts";
import { openMulti } from "./multi.ts";
import type { OpenedGrader } from "./opened.ts";
import { AZURE_CODES, FAULT_CLASSES, FAULT_CODES, scoreOf } from "./outcome.ts";
import { isSampleObject, sampleOf } from "./sample.ts";
import type { GraderFile, GraderSettings } from "./settings.ts";

/** Raised when graders give other rewards than before for the same JSON. */
export const GRADERS_VERSION = "1.0.0";

/** `where` begins the messages of errors, such as the name of the grader's file. */
export async function openGrader(
  grader: Grader,
  settings: GraderSettings,
  where: string,
): Promise<OpenedGrader> {
  if (grader.type === "multi")
    return openMulti(grader, { settings, where }, (part, context) =>
      openGrader(part, context.settings, context.where),
    );
  const open = await loadKind(grader.type);
  return open(grader, { settings, where });
}

/** The types of graders in it, its own included. */
export function typesOf(grader: Grader): GraderType[] {
  if (grader.type !== "multi") return [grader.type];
  return [grader.type, ...Object.values(grader.graders).map(({ type }) => type)];
}

export function graderName({ name, type }: Grader): string {
  return name ?? type;
}

const NOT_TEXT = fault("sample_parse_error", "sample", "the completion is not text");

/** The grader with the interface of scorers. */
export function toGraderScorer({ grader, settings }: GraderFile, opened: OpenedGrader): Scorer {
  const { azure_errors: azure } = settings;
  return {
    name: graderName(grader),
    version: GRADERS_VERSION,
    spec: opened.spec,
    codes: [...opened.codes, ...(azure ? AZURE_CODES : FAULT_CODES)],
    classes: FAULT_CLASSES,
    ...rangeOf(opened),
    ...(!opened.deterministic && { deterministic: false }),
    score(example, completion) {
      const given: unknown = completion;
      // A server passes on whole samples, with tool calls.
      if (typeof given !== "string" && !isSampleObject(given)) return scoreOf(NOT_TEXT, azure);
      const sample = sampleOf(given);
      const graded = opened.grade({ item: example as JsonObject, sample });
      if (!(graded instanceof Promise)) return scoreOf(graded, azure);
      return graded.then((grade) => scoreOf(grade, azure));
    },
  };
}

/** With 0, which a sample that cannot be read gets. */
function rangeOf({ range }: OpenedGrader): Pick<Scorer, "range"> {
  if (range === undefined) return {};
  const [low, high] = [Math.min(0, range[0]), Math.max(0, range[1])];
  return low < high ? { range: [low, high] } : {};
}
