/**
 * Serves a scorer as an `endpoint` grader: POST `{ sample, item, trace_id }` is answered with
 * `{ score }`. A row without a reward is an error status, never a score of 0.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { type CheckedScore, type GuardedScorer, INVALID_EXAMPLE } from "../core/score.ts";
import { type App, addRoute, type RequestContext } from "../http/app.ts";
import { requireBearer } from "../http/bearer.ts";
import { readJson } from "../http/body.ts";
import { HttpError } from "../http/errors.ts";
import { openAiError } from "../http/openai-error.ts";
import { RateLimit } from "../http/rate-limit.ts";
import type { RunningServer } from "../http/running-server.ts";
import { isLoopback, startHttpServer } from "../http/server.ts";
import { readGradedRequest } from "./graded-request.ts";

export interface ScorerServerOptions {
  /** The caller closes it, after the server. */
  readonly scorer: GuardedScorer;
  /** The scorer is a grader: it gets the whole sample, with tool calls. */
  readonly wholeSample?: boolean;
  /** 0 takes a free one. */
  readonly port: number;
  /** 127.0.0.1 unless stated; another one needs a token. */
  readonly host?: string | undefined;
  /** What requests must bring as `authorization: Bearer TOKEN`. */
  readonly token?: string | undefined;
  /** Requests a second. */
  readonly rateLimit: number;
  /** Answers `{ score }` and nothing else. */
  readonly scoreOnly?: boolean;
  /** Called with internal errors; clients get only a status of 500. */
  readonly onBug?: (error: unknown) => void;
}

export interface ScorerServer extends RunningServer {
  /** The `url` of an endpoint grader. */
  readonly endpoint: string;
}

const ROUTE = "/score";

export async function startScorerServer(options: ScorerServerOptions): Promise<ScorerServer> {
  const { port, host, token, rateLimit, onBug = () => {} } = options;
  if (host !== undefined && !isLoopback(host) && token === undefined)
    throw new TypeError(`a scorer is served on ${host} only with a token`);
  const limit = new RateLimit(rateLimit);
  const server = await startHttpServer({
    ...{ port, host, onBug, errorBody: openAiError },
    addRoutes: (app) => addRoutes(app, options, limit),
    stop: (graceMs) => finished(limit, graceMs),
  });
  return { ...server, endpoint: `${server.url}${ROUTE}` };
}

function addRoutes(app: App, options: ScorerServerOptions, limit: RateLimit): void {
  const { scorer, token } = options;
  const authorised = (c: RequestContext) => {
    if (token !== undefined) requireBearer(c.req.header("authorization"), token);
  };
  addRoute(app, ROUTE, {
    GET: (c) => {
      authorised(c);
      const { name, version, spec, source_sha256 } = scorer.identity;
      return c.json({ scorer: { name, version, spec, source_sha256 } });
    },
    POST: (c) => {
      authorised(c);
      return limit.run(async () => c.json(await answer(c.req.raw, options)));
    },
  });
}

async function answer(request: Request, options: ScorerServerOptions): Promise<object> {
  const { scorer, wholeSample = false, scoreOnly = false } = options;
  const { row, traceId } = readGradedRequest(await readJson(request), wholeSample);
  const [scored] = await scorer.scoreBatch([row]);
  if (scored === undefined || scored.reward === null) throw noScore(scored);
  const { reward: score, code, details } = scored;
  if (scoreOnly) return { score };
  return { score, code, details, ...(traceId !== undefined && { trace_id: traceId }) };
}

/** What a grader cannot read in the item is the client's mistake; the rest is the scorer's. */
function noScore(scored: CheckedScore | undefined): HttpError {
  const { code = "scorer_error", details } = scored ?? {};
  const message = isFields(details) ? (details as JsonObject).message : undefined;
  const said = typeof message === "string" ? message : "the scorer gave no score";
  if (code === INVALID_EXAMPLE)
    return new HttpError(422, `the item cannot be scored: ${said}`, { code, param: "item" });
  return new HttpError(500, `there is no score: ${said}`, { code });
}

async function finished(limit: RateLimit, graceMs: number): Promise<void> {
  for (let waited = 0; limit.open > 0 && waited < graceMs; waited += 10) await sleep(10);
}
