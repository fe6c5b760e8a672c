/** The official client for OpenAI-compatible endpoints, configured without its environment variables. */

import { LockedRoomError, messageOf, usageError } from "../core/errors.ts";
import { isFields } from "../core/records.ts";

export const DEFAULT_BASE_URL = "https://api.openai.com/v1";

export interface Endpoint {
  readonly apiKey: string;
  /** The base URL; OpenAI's by default. */
  readonly baseUrl?: string | undefined;
  readonly organization?: string | undefined;
  readonly project?: string | undefined;
}

/** Sends one chat completion request and returns the JSON of the response. */
export type Send = (body: object, signal: AbortSignal) => Promise<unknown>;

export async function connect(endpoint: Endpoint): Promise<Send> {
  requireSendableKey(endpoint.apiKey);
  const { OpenAI } = await loadPackage();
  const client = new OpenAI({
    apiKey: endpoint.apiKey,
    baseURL: baseUrl(endpoint.baseUrl),
    organization: endpoint.organization ?? null,
    project: endpoint.project ?? null,
    adminAPIKey: null,
    webhookSecret: null,
    maxRetries: 0, // Tries are counted in one place, and an answer that is cut short is tried again too.
    logLevel: "off",
    fetch: fetchWithReasons,
  });
  return (body, signal) => client.chat.completions.create(body as never, { signal });
}

/**
 * The client reads error messages only from `error`; other servers use `detail` or `message`, and
 * the client would report "status code (no body)".
 */
async function fetchWithReasons(
  ...request: Parameters<typeof globalThis.fetch>
): Promise<Response> {
  const response = await globalThis.fetch(...request);
  if (response.ok) return response;
  const { status, headers } = response;
  const body = await response.text();
  return new Response(withReason(body), { status, headers });
}

function withReason(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    return isFields(value) && value.error === undefined ? JSON.stringify({ error: value }) : body;
  } catch {
    return body;
  }
}

async function loadPackage(): Promise<typeof import("openai")> {
  try {
    return await import("openai");
  } catch (error) {
    throw new LockedRoomError(
      "usage",
      "openai: policies need the package openai, which is not installed",
      {
        hint: `Install it beside lockedroom: npm install openai@6 (${messageOf(error).split("\n")[0]})`,
        cause: error,
      },
    );
  }
}

/** The endpoint's URL to show and record; it cannot contain a key. */
export function baseUrl(given: string | undefined): string {
  if (given === undefined || given.trim() === "") return DEFAULT_BASE_URL;
  const url = URL.canParse(given.trim()) ? new URL(given.trim()) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw usageError(
      "OPENAI_BASE_URL is not an http or https URL",
      `Example: ${DEFAULT_BASE_URL}.`,
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw usageError(
      "OPENAI_BASE_URL must not contain a user, a password or a query",
      "The URL is recorded in run files. Put the key in OPENAI_API_KEY.",
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** An invalid header value would otherwise be quoted in full in the error message. */
function requireSendableKey(key: string): void {
  if (key === "" || /[^\x21-\x7e]/.test(key)) {
    throw usageError(
      key === "" ? "OPENAI_API_KEY is empty" : "OPENAI_API_KEY contains an invalid character",
      "Look for a space, a line break or a quotation mark that was copied with the key.",
    );
  }
}
