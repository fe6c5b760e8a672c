/** `endpoint`: the score that a server of the user answers with. */

import { setTimeout as sleep } from "node:timers/promises";
import { fingerprint } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";
import { backoffMs, type Failure, failureOf } from "../providers/retry.ts";
import { hider } from "../providers/secrets.ts";
import { type Fault, fault } from "./fault.ts";
import type { EndpointGrader } from "./grader-schema.ts";
import { type OpenKind, SHARE_CODES, shareCode, thresholdDetails } from "./opened.ts";
import { plainSample } from "./sample.ts";

/** From the API's documentation. */
const LARGEST_BYTES = 1_000_000;
const RETRIES = 3;
const FIRST_WAIT_MS = 500;

/** A status that is not a success, with the fields by which `failureOf` knows one. */
class Rejected extends Error {
  readonly status: number;
  readonly headers: Headers;

  constructor({ status, headers }: Response, body: string) {
    super(visibleShort(body, 200) || "no reason given");
    this.status = status;
    this.headers = headers;
  }
}

/** An answer that asking again does not change. */
class WrongAnswer extends Error {}

export const openEndpoint: OpenKind<EndpointGrader> = (grader, { settings }) => {
  const shownUrl = new URL(grader.url).origin + new URL(grader.url).pathname;
  const hide = hider(Object.values(grader.headers ?? {}));
  const end = new AbortController();
  const turn = turns(grader.rate_limit ?? undefined, end.signal);
  return {
    ...{ exact: false, deterministic: false, range: undefined, codes: SHARE_CODES },
    ...{ ownLimit: true, itemFields: undefined },
    spec: `the score that ${shownUrl} answers with`,
    async grade({ sample, item }) {
      const given = { sample: plainSample(sample), item };
      const trace_id = `trace_${fingerprint(given).slice(0, 16)}`;
      const body = JSON.stringify({ ...given, trace_id });
      if (Buffer.byteLength(body) > LARGEST_BYTES)
        return failed("the sample and the item are larger than 1 MB together");
      const found = await answered(grader, body, {
        ...{ turn, end: end.signal, limitMs: 1000 * settings.endpoint_seconds, trace_id },
      });
      if (typeof found === "string") return failed(hide(`${shownUrl} ${found}`));
      const { score: reward } = found;
      const details: JsonObject = { trace_id, ...thresholdDetails(grader.pass_threshold, reward) };
      return { reward, code: shareCode(reward), details };
    },
    async close() {
      end.abort();
    },
  };
};

function failed(message: string): Fault {
  return fault("other_error", "grader", message);
}

interface Attempt {
  readonly turn: () => Promise<void>;
  readonly end: AbortSignal;
  readonly limitMs: number;
  readonly trace_id: string;
}

/** The score, or a sentence that says what happened after the last try. */
async function answered(
  grader: EndpointGrader,
  body: string,
  { turn, end, limitMs, trace_id }: Attempt,
): Promise<{ readonly score: number } | string> {
  for (let tries = 1; ; tries++) {
    await turn();
    const limit = AbortSignal.timeout(limitMs);
    let failure: Failure;
    try {
      return await post(grader, body, AbortSignal.any([limit, end]));
    } catch (error) {
      if (error instanceof WrongAnswer) return error.message;
      if (end.aborted) return "was not waited for: the grader was closed";
      failure = failureOf(error, limit.aborted, Date.now());
    }
    const { status, message, temporary, waitMs = 0 } = failure;
    if (!temporary || tries > RETRIES) {
      const what = status === undefined ? "did not answer" : `answered with status ${status}`;
      return `${what}, after ${tries} ${tries === 1 ? "try" : "tries"}: ${message}`;
    }
    const wait = Math.max(Math.min(waitMs, limitMs), backoffMs(FIRST_WAIT_MS, tries - 1, trace_id));
    await sleep(wait, undefined, { signal: end }).catch(() => {});
  }
}

async function post(
  { url, headers }: EndpointGrader,
  body: string,
  signal: AbortSignal,
): Promise<{ readonly score: number }> {
  const response = await fetch(url, {
    ...{ method: "POST", body, signal },
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    // The headers of this endpoint are not for another one.
    redirect: "manual",
  });
  const text = await bounded(response);
  if (!response.ok) throw new Rejected(response, text);
  return scoreIn(text);
}

/** The body, unless it is larger than an answer may be. */
async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > LARGEST_BYTES) throw new WrongAnswer("answered with more than 1 MB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function scoreIn(text: string): { readonly score: number } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WrongAnswer(`answered with something that is not JSON: ${visibleShort(text, 120)}`);
  }
  const score = isFields(value) ? value.score : undefined;
  if (typeof score === "number" && Number.isFinite(score)) return { score };
  throw new WrongAnswer(`answered without a number as score: ${visibleShort(text, 120)}`);
}

/** With a limit, requests begin at least so far apart; it counts requests in a second. */
function turns(limit: number | undefined, end: AbortSignal): () => Promise<void> {
  if (limit === undefined) return async () => {};
  let next = 0;
  return async () => {
    const now = performance.now();
    const at = Math.max(now, next);
    next = at + 1000 / limit;
    if (at > now) await sleep(at - now, undefined, { signal: end }).catch(() => {});
  };
}
