/** Refusals in OpenAI's shape, each with the status that goes with it. */

import { LockedRoomError } from "../core/errors.ts";

interface Details {
  /** The field of the request that is to blame. */
  readonly param?: string | undefined;
  readonly code?: string | undefined;
  readonly headers?: Record<string, string> | undefined;
}

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly details: Details;

  constructor(status: number, message: string, details: Details = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }

  get body(): object {
    const { param = null, code = null } = this.details;
    return { error: { message: this.message, type: typeOf(this.status), param, code } };
  }

  response(): Response {
    const { status, details } = this;
    return Response.json(this.body, { status, headers: details.headers ?? {} });
  }
}

function typeOf(status: number): string {
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

export const invalid = (message: string, param?: string, code?: string): ApiError =>
  new ApiError(400, message, { param, code });

/** What the client is told of anything thrown: of a bug of ours only that there is one. */
export function apiErrorOf(thrown: unknown, onBug: (error: unknown) => void): ApiError {
  if (thrown instanceof ApiError) return thrown;
  // Node's words for a client that left in the middle of its request.
  if (thrown instanceof Error && thrown.message === "aborted") {
    return new ApiError(499, "the client went away");
  }
  onBug(thrown);
  return new ApiError(500, "the server failed; what happened is in its terminal");
}

/** Work on a client's text: what the policy cannot read is the client's to mend. */
export function onBehalfOf<T>(param: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    throw invalid([error.message, error.hint].filter(Boolean).join(". "), param);
  }
}
