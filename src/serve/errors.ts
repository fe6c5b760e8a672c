/** Errors as OpenAI's API writes them. */

import { LockedRoomError } from "../core/errors.ts";
import { badRequest, type HttpError } from "../http/errors.ts";

export function openAiError({ status, message, details }: HttpError): object {
  const { param = null, code = null } = details;
  return { error: { message, type: typeOf(status), param, code } };
}

function typeOf(status: number): string {
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** Runs work on a client's text, where an input that the policy cannot read is a bad request. */
export function asBadRequest<T>(param: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    throw badRequest([error.message, error.hint].filter(Boolean).join(". "), param);
  }
}
