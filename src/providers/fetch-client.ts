/** A client for OpenAI-compatible endpoints that needs no package: one POST for each request. */

import { isFields } from "../core/records.ts";
import { baseUrl, type Endpoint, requireSendableKey, type Send } from "./endpoint.ts";
import { Malformed } from "./retry.ts";

export interface FetchEndpoint extends Endpoint {
  /** Further headers, such as those of a gateway. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function connectByFetch(endpoint: FetchEndpoint): Send {
  requireSendableKey(endpoint);
  const url = `${baseUrl(endpoint)}/chat/completions`;
  const headers = headersOf(endpoint);
  return async (body, signal) => {
    const text = JSON.stringify(body);
    const response = await fetch(url, { ...TO_NOBODY_ELSE, headers, body: text, signal });
    if (isRedirect(response)) throw new Rejected(response, redirected(response));
    const answer = await textOf(response);
    if (!response.ok) throw new Rejected(response, answer);
    return JSON.parse(answer);
  };
}

/** Nobody but the endpoint that is recorded gets the conversations, or gives the answer. */
const TO_NOBODY_ELSE = { method: "POST", redirect: "manual" } as const;

const isRedirect = ({ status }: Response) => status >= 300 && status < 400;

function redirected({ headers }: Response): string {
  return `it sends requests on to ${headers.get("location") ?? "another address"}`;
}

/** No answer about a group is as long; without a limit one could fill the memory. */
const LONGEST_ANSWER = 2 ** 24;

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > LONGEST_ANSWER)
      throw new Malformed(`it is longer than ${LONGEST_ANSWER / 2 ** 20} MiB`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function headersOf(endpoint: FetchEndpoint): Record<string, string> {
  const { apiKey, organization, project, headers } = endpoint;
  return {
    "content-type": "application/json",
    accept: "application/json",
    authorization: `Bearer ${apiKey}`,
    ...(organization && { "openai-organization": organization }),
    ...(project && { "openai-project": project }),
    ...headers,
  };
}

/** A response with an error status, with the fields by which `failureOf` knows one. */
class Rejected extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly error: unknown;
  readonly code: unknown;
  readonly param: unknown;

  constructor({ status, headers }: Response, body: string) {
    super(body === "" ? "no reason given" : body);
    this.status = status;
    this.headers = headers;
    this.error = reasonIn(body);
    if (isFields(this.error)) {
      this.code = this.error.code;
      this.param = this.error.param;
    }
  }
}

/** `{"error": …}` as OpenAI has it; other servers put the reason at the top. */
function reasonIn(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return isFields(value) && value.error !== undefined ? value.error : value;
  } catch {
    return undefined;
  }
}
