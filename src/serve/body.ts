/** The JSON of a request, up to a limit. */

import { messageOf } from "../core/errors.ts";
import { ApiError, invalid } from "./errors.ts";

export const LARGEST_BODY = 1024 * 1024;

/** An absent value is the same as null in OpenAI's API, so nulls are dropped. */
export async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new ApiError(415, "the body must be JSON: send it with content-type: application/json");
  }
  const text = decoded(await readBytes(request));
  try {
    return JSON.parse(text, (_, value: unknown) => (value === null ? undefined : value));
  } catch (error) {
    throw invalid(`the body is not JSON: ${messageOf(error)}`);
  }
}

async function readBytes({ headers, body }: Request): Promise<Buffer> {
  if (Number(headers.get("content-length") ?? 0) > LARGEST_BODY) throw tooLarge();
  const chunks: Uint8Array[] = [];
  const reader = body?.getReader();
  let size = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.length;
    if (size > LARGEST_BODY) throw tooLarge();
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}

/** The rest of the body is not read, so the connection cannot serve another request. */
function tooLarge(): ApiError {
  return new ApiError(413, `the body is larger than ${LARGEST_BODY} bytes`, {
    headers: { connection: "close" },
  });
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("the body is not UTF-8");
  }
}
