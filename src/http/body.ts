/** Reads the JSON body of a request, up to a size limit. */

import { messageOf } from "../core/errors.ts";
import { badRequest, HttpError } from "./errors.ts";

export interface BodyOptions {
  /** 1 MiB unless stated. */
  readonly maxBytes?: number;
  /** As for JSON.parse. */
  readonly reviver?: (key: string, value: unknown) => unknown;
}

export async function readJson(
  request: Request,
  { maxBytes = 1024 * 1024, reviver }: BodyOptions = {},
): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new HttpError(415, "the body must be JSON: send it with content-type: application/json");
  }
  const text = decodeUtf8(await readBytes(request, maxBytes));
  try {
    return JSON.parse(text, reviver);
  } catch (error) {
    throw badRequest(`the body is not JSON: ${messageOf(error)}`);
  }
}

async function readBytes({ headers, body }: Request, maxBytes: number): Promise<Buffer> {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  const reader = body?.getReader();
  let size = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}

/** The rest of the body is not read, so the connection cannot serve another request. */
function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `the body is larger than ${maxBytes} bytes`, {
    headers: { connection: "close" },
  });
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw badRequest("the body is not UTF-8");
  }
}
