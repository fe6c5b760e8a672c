/** `python`: the number that a function of its own, `grade(sample, item)`, returns. */

import { dataError, messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { type Fault, fault } from "./fault.ts";
import type { PythonGrader } from "./grader-schema.ts";
import { graderHost } from "./host.ts";
import { type Grade, type OpenKind, SHARE_CODES, shareCode, thresholdDetails } from "./opened.ts";
import { BadSource, type Graded, type Interpreter } from "./python/interpreter.ts";
import { itemFieldsIn } from "./python/item-fields.ts";
import { startLocal } from "./python/local.ts";
import { GraderProcess } from "./python/process.ts";
import { sandboxRuntime, startSandbox } from "./python/sandbox.ts";
import { plainSample } from "./sample.ts";

export const openPython: OpenKind<PythonGrader> = (grader, context) => {
  const { python_seconds: seconds, python_memory_mb: memoryMb } = context.settings;
  const limits = { seconds, memoryMb };
  const { python: local } = graderHost();
  const interpreter: Interpreter = local
    ? new GraderProcess(startLocal(local, grader.source, limits), limits, "")
    : new GraderProcess(startSandbox(grader.source, limits), limits, sandboxRuntime());
  return {
    ...{ exact: false, deterministic: true, range: undefined, codes: SHARE_CODES },
    itemFields: itemFieldsIn(grader.source),
    ...{ sandboxed: local === undefined, ownLimit: true },
    spec: `what grade(sample, item) of the Python source of ${grader.name} returns`,
    get runtime() {
      return interpreter.runtime;
    },
    async ready() {
      try {
        await interpreter.ready();
      } catch (error) {
        if (error instanceof BadSource)
          throw dataError(`${context.where}: source: ${error.message}`, "Correct the source.");
        throw dataError(
          `${context.where}: Python could not be started: ${messageOf(error)}`,
          local ? "Check the interpreter that --python names." : "Check the package pyodide.",
        );
      }
    },
    async grade({ sample, item }) {
      const row = JSON.stringify({ sample: plainSample(sample), item });
      return gradeOf(await interpreter.grade(row), grader.pass_threshold);
    },
    close: () => interpreter.close(),
  };
};

function gradeOf(graded: Graded, threshold: number | undefined): Grade | Fault {
  if ("lost" in graded) return fault("python_grader_server_error", "grader", graded.lost);
  const { output } = graded;
  const printed: JsonObject = output === undefined ? {} : { output };
  if ("error" in graded)
    return { ...fault("python_grader_runtime_error", "grader", graded.error), more: printed };
  const { reward } = graded;
  const details = { ...printed, ...thresholdDetails(threshold, reward) };
  return { reward, code: shareCode(reward), details };
}
