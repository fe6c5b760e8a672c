/** `lockedroom serve --scorer`: a scorer or grader as an `endpoint` grader for others. */

import { once } from "node:events";
import { usageError } from "../core/errors.ts";
import type { ScorerServer } from "../serve/scorer-server.ts";
import { onBug } from "./on-bug.ts";
import { out, print } from "./terminal.ts";

export interface ScorerServerFlags {
  readonly scorer: string;
  readonly host?: string;
  readonly port: number;
  readonly rateLimit: number;
  readonly scoreOnly?: boolean;
  readonly concurrency: number;
  readonly scorerTimeout: number;
}

/** From the environment alone: an option would show it to everybody who lists processes. */
const TOKEN = "LOCKEDROOM_SERVE_TOKEN";
const SHORTEST_TOKEN = 16;

export async function serveScorer(flags: ScorerServerFlags): Promise<void> {
  const { host, port, rateLimit, scoreOnly = false } = flags;
  const token = tokenGiven();
  const { isLoopback } = await import("../http/server.ts");
  if (host !== undefined && !isLoopback(host) && token === undefined)
    throw usageError(
      `--host ${host} needs a token: other machines can reach it`,
      `Set ${TOKEN} in the environment, or leave --host out.`,
    );
  const { isGraderFile } = await import("../scorers/load.ts");
  const { openScorer } = await import("../scorers/open.ts");
  const { concurrency, scorerTimeout: timeoutMs } = flags;
  const scorer = await openScorer(flags.scorer, { concurrency, timeoutMs, independent: true });
  try {
    const { startScorerServer } = await import("../serve/scorer-server.ts");
    const server = await startScorerServer({
      ...{ scorer, port, host, token, rateLimit, scoreOnly, onBug },
      wholeSample: isGraderFile(flags.scorer),
    });
    const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
    printStart(server, scorer.identity, token !== undefined);
    await stopped;
    await server.close();
  } finally {
    await scorer.close();
  }
}

function tokenGiven(): string | undefined {
  const token = process.env[TOKEN];
  if (token === undefined || token === "") return undefined;
  if (token.length >= SHORTEST_TOKEN && /^[\x21-\x7e]+$/.test(token)) return token;
  throw usageError(
    `${TOKEN} must have at least ${SHORTEST_TOKEN} visible ASCII characters and no space`,
    "Make one: openssl rand -hex 32",
  );
}

/** The first line is the URL alone, for programs that start a server. */
function printStart(
  { endpoint }: ScorerServer,
  { name, version }: { readonly name: string; readonly version: string },
  token: boolean,
): void {
  out(endpoint);
  out();
  print(`Serving the scorer ${name} ${version} as an endpoint grader:`);
  const headers = { headers: { Authorization: "Bearer TOKEN" } };
  const grader = { type: "endpoint", name, url: endpoint, ...(token && headers) };
  out(JSON.stringify(grader, null, 2).replace(/^/gm, "  "));
  out();
  out("Try it:");
  out(`  curl ${endpoint} \\`);
  if (token) out(`    -H "authorization: Bearer $${TOKEN}" \\`);
  out("    -H 'content-type: application/json' \\");
  out(`    -d '{"sample": {"output_text": "Final: 4"},`);
  out(`         "item": {"expected_answer": 4}, "trace_id": "trace_1"}'`);
  out();
  out("Stop with Ctrl-C.");
}
