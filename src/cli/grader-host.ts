/** What graders get from the command line: a local Python, and the endpoint and cache of judges. */

import type { Command } from "commander";
import { graderHost, setGraderHost } from "../graders/host.ts";

/** For commands that open scorers. Without the option, python graders run in the sandbox. */
export function addPythonOption(command: Command): Command {
  return command
    .option("--python <path>", "run python graders with this interpreter; this is no sandbox")
    .hook("preAction", (_, action) => {
      const { python } = action.opts<{ python?: string }>();
      if (python !== undefined) setGraderHost({ ...graderHost(), python });
    });
}

/** Before any command; the environment is read where a grader asks for a model. */
export function prepareGraders(): void {
  setGraderHost({
    models: {
      endpoint: async (model) => (await import("./open-judge.ts")).openAiEndpoint(model),
      async cache() {
        const { JUDGE_CACHE, noticed, openCache } = await import("./open-judge.ts");
        return openCache(JUDGE_CACHE, noticed);
      },
    },
  });
}
