/** Where an OpenAI-compatible endpoint is and what opens it. */

import { usageError } from "../core/errors.ts";

export const DEFAULT_BASE_URL = "https://api.openai.com/v1";

/** The environment variables that the values came from, for messages. */
export interface EndpointVariables {
  readonly key: string;
  readonly url: string;
}

export interface Endpoint {
  readonly apiKey: string;
  /** The base URL; OpenAI's by default. */
  readonly baseUrl?: string | undefined;
  readonly organization?: string | undefined;
  readonly project?: string | undefined;
  /** OPENAI_API_KEY and OPENAI_BASE_URL unless given. */
  readonly variables?: EndpointVariables | undefined;
}

/** Sends one chat completion request and returns the JSON of the response. */
export type Send = (body: object, signal: AbortSignal) => Promise<unknown>;

const VARIABLES: EndpointVariables = { key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL" };

export function variablesOf({ variables = VARIABLES }: Pick<Endpoint, "variables">) {
  return variables;
}

/** The endpoint's URL to show and record; it cannot contain a key. */
export function baseUrl(endpoint: Pick<Endpoint, "baseUrl" | "variables">): string {
  const given = endpoint.baseUrl?.trim() ?? "";
  const variable = variablesOf(endpoint).url;
  if (given === "") return DEFAULT_BASE_URL;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw usageError(`${variable} is not an http or https URL`, `Example: ${DEFAULT_BASE_URL}.`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw usageError(
      `${variable} must not contain a user, a password or a query`,
      `The URL is recorded in run files. Put the key in ${variablesOf(endpoint).key}.`,
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** An invalid header value would otherwise be quoted in full in the error message. */
export function requireSendableKey(endpoint: Pick<Endpoint, "apiKey" | "variables">): void {
  const { apiKey: key } = endpoint;
  const variable = variablesOf(endpoint).key;
  if (key === "" || /[^\x21-\x7e]/.test(key)) {
    throw usageError(
      key === "" ? `${variable} is empty` : `${variable} contains an invalid character`,
      "Look for a space, a line break or a quotation mark that was copied with the key.",
    );
  }
}
