/** An error as OpenAI's API writes it. */

import type { HttpError } from "./errors.ts";

export function openAiError({ status, message, details }: HttpError): object {
  const type =
    status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error";
  const { param = null, code = null } = details;
  return { error: { message, type, param, code } };
}
