/** Errors with an HTTP status, and the response that each becomes. */

interface Details {
  /** For programs: `queue_full`. */
  readonly code?: string | undefined;
  /** The field of the request that is wrong. */
  readonly param?: string | undefined;
  readonly headers?: Record<string, string> | undefined;
}

export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly details: Details;

  constructor(status: number, message: string, details: Details = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

export const badRequest = (message: string, param?: string, code?: string): HttpError =>
  new HttpError(400, message, { param, code });

export const clientGone = (): HttpError => new HttpError(499, "the client closed the connection");

/** How a server reports errors. */
export interface ErrorHandling {
  /** The JSON that a client gets. */
  readonly errorBody: (error: HttpError) => object;
  /** Called with internal errors; clients get only a status of 500. */
  readonly onBug: (error: unknown) => void;
}

/** The error for the client. Internal errors go to `onBug` and become a plain 500. */
export function httpErrorOf(thrown: unknown, { onBug }: Pick<ErrorHandling, "onBug">): HttpError {
  if (thrown instanceof HttpError) return thrown;
  // Node's message when the client disconnects while its request is read.
  if (thrown instanceof Error && thrown.message === "aborted") return clientGone();
  onBug(thrown);
  return new HttpError(500, "the server failed; its terminal shows why");
}

export function errorResponse(thrown: unknown, errors: ErrorHandling): Response {
  const error = httpErrorOf(thrown, errors);
  const { status, details } = error;
  return Response.json(errors.errorBody(error), { status, headers: details.headers ?? {} });
}
