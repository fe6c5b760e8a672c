/** `lockedroom judge serve`: the embedded judge as an OpenAI-compatible endpoint. */

import { once } from "node:events";
import { FAULTS, readFaults } from "../judge/embedded/faults.ts";
import { onBug } from "./on-bug.ts";
import { wholeNumber } from "./options.ts";
import type { Subcommand } from "./subcommand.ts";
import { hanging, out, print } from "./terminal.ts";

interface Flags {
  readonly faults?: string;
  readonly port: number;
}

const LIST = Object.entries(FAULTS)
  .map(([name, about]) => hanging(`  ${name.padEnd(16)}`, about))
  .join("\n");

export const serveJudge: Subcommand = {
  summary: "serve the embedded judge, with known faults on demand",
  description:
    "Serves the embedded judge on this machine as an OpenAI-compatible endpoint. It judges by rules, so that it needs no model and no key, and it has the faults that you ask for.",
  help: `The first line of stdout is the server's URL, which ends with /v1. The same
request gets the same answer. Without --faults the judge is honest. A rule of a
rubric that it does not know is answered with status 400 and the rules it knows.

Faults, separated by commas:
${LIST}
A number after = is the strength of the first five (position=0.3), and for the
others the share of requests that they strike (refusal=0.2; default: all).
With -once (chatter-once) the second answer is in order: the one to the
corrective question, or for timeout to the same request sent again.

Examples:
  lockedroom judge serve
  lockedroom judge serve --port 0 --faults position=0.3,length
  lockedroom judge serve --faults chatter-once`,
  define(command) {
    command
      .option("--faults <list>", "known faults, separated by commas (default: none)")
      .option("--port <n>", "port on 127.0.0.1; 0 for a free one", wholeNumber(0, 65_535), 8090)
      .action((_name: string, flags: Flags) => serve(flags));
  },
};

async function serve({ faults = "", port }: Flags): Promise<void> {
  const struck = readFaults(faults);
  const { startEmbeddedJudge } = await import("../judge/embedded/server.ts");
  const server = await startEmbeddedJudge({ faults, port, onBug });
  const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  out(server.url);
  out();
  print(`Serving the embedded judge. Faults: ${struck.length === 0 ? "none" : faults}`);
  out();
  out("Use it with --judge openai:embedded-judge and");
  out(`  export OPENAI_BASE_URL=${server.url} OPENAI_API_KEY=none`);
  out("or, where the policy has an endpoint of its own,");
  out(`  export JUDGE_BASE_URL=${server.url} JUDGE_API_KEY=none`);
  out();
  out("Stop with Ctrl-C.");
  await stopped;
  await server.close();
}
