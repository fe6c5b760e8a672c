/** Failed requests: the error, whether to retry, and when. */

import { messageOf } from "../core/errors.ts";
import { rngAt } from "../core/rng.ts";

/** A request that failed. `temporary` ones are tried again. */
export interface Failure {
  readonly temporary: boolean;
  /** Undefined when there was no answer at all. */
  readonly status: number | undefined;
  /** The message of the endpoint or of the network. */
  readonly message: string;
  /** The parameter that the endpoint rejects, where it names one. */
  readonly param: string | undefined;
  /** How long the endpoint asks to wait. */
  readonly waitMs: number | undefined;
  /** The connection failed. */
  readonly unreachable: boolean;
}

/** A response with status 200 that is not a chat completion. */
export class Malformed extends Error {}

/** An error of the `openai` package; checked by its fields, so that the package is loaded only when used. */
interface ApiError {
  readonly status?: unknown;
  readonly headers?: { get(name: string): string | null } | undefined;
  readonly error?: unknown;
  readonly code?: unknown;
  readonly param?: unknown;
}

export function failureOf(thrown: unknown, timedOut: boolean, now: number): Failure {
  if (timedOut) return noAnswer("the endpoint took too long to answer");
  if (thrown instanceof Malformed || thrown instanceof SyntaxError) {
    const message = thrown instanceof Malformed ? thrown.message : "it is not valid JSON";
    return { ...noAnswer(message), status: 200 };
  }
  const { status, headers, error, code, param } = (thrown ?? {}) as ApiError;
  if (typeof status !== "number") {
    const message = networkMessage(thrown);
    const unreachable = UNREACHABLE.has(rootCode(thrown)) || message === BAD_PORT;
    return { ...noAnswer(message), unreachable };
  }
  return {
    temporary: isTemporary(status, code, headers?.get("x-should-retry")),
    status,
    message: bodyMessage(error) ?? messageOf(thrown).replace(/^\d+ /, ""),
    param: typeof param === "string" ? param : undefined,
    waitMs: waitOf(headers, now),
    unreachable: false,
  };
}

/** The runtime's words for a port that no HTTP server has, such as 9; it never tries one. */
const BAD_PORT = "bad port";
const UNREACHABLE = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

function noAnswer(message: string): Failure {
  return {
    temporary: true,
    status: undefined,
    message,
    param: undefined,
    waitMs: undefined,
    unreachable: false,
  };
}

function isTemporary(status: number, code: unknown, advice: string | null | undefined): boolean {
  if (advice === "true" || advice === "false") return advice === "true";
  if (code === "insufficient_quota") return false; // A 429 that waiting does not solve.
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** `{"error": {"message": …}}` as OpenAI has it, and the other forms that are seen. */
function bodyMessage(error: unknown): string | undefined {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null) return undefined;
  const { message, detail } = error as { message?: unknown; detail?: unknown };
  if (typeof message === "string") return message;
  return detail === undefined ? JSON.stringify(error) : JSON.stringify(detail);
}

/** The package says "Connection error."; what happened is the cause of its cause. */
function networkMessage(thrown: unknown): string {
  const code = rootCode(thrown);
  return code === "" ? messageOf(rootCause(thrown)) : (NETWORK[code] ?? code);
}

function rootCause(thrown: unknown): unknown {
  let at = thrown;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return at;
}

const NETWORK: Record<string, string> = {
  ECONNREFUSED: "the connection was refused",
  ENOTFOUND: "the host does not exist",
  EAI_AGAIN: "the host name cannot be resolved",
  ECONNRESET: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed",
  ETIMEDOUT: "the connection timed out",
};

function rootCode(thrown: unknown): string {
  let code = "";
  for (let at = thrown; at instanceof Error; at = at.cause) {
    const found = (at as NodeJS.ErrnoException).code;
    if (typeof found === "string") code = found;
  }
  return code;
}

/** `Retry-After` in seconds or as a date, or the finer `retry-after-ms`. */
function waitOf(headers: ApiError["headers"], now: number): number | undefined {
  const fine = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (fine >= 0) return fine;
  const text = headers?.get("retry-after") ?? "";
  const wait = /^\s*[0-9.]+\s*$/.test(text) ? 1000 * Number(text) : Date.parse(text) - now;
  return wait >= 0 ? wait : undefined;
}

const LONGEST_STEP_MS = 30_000;

/** Exponential backoff with up to 25 % jitter. */
export function backoffMs(first: number, attempt: number, ...address: (string | number)[]): number {
  const step = Math.min(LONGEST_STEP_MS, first * 2 ** attempt);
  return step * (1 - rngAt("backoff", ...address, attempt).next() / 4);
}
