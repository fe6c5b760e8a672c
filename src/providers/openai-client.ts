/** The official client for OpenAI-compatible endpoints, configured without its environment variables. */

import { LockedRoomError, messageOf } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import { baseUrl, type Endpoint, requireSendableKey, type Send } from "./endpoint.ts";

export async function connect(endpoint: Endpoint): Promise<Send> {
  requireSendableKey(endpoint);
  const { OpenAI } = await loadPackage();
  const client = new OpenAI({
    apiKey: endpoint.apiKey,
    baseURL: baseUrl(endpoint),
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
  ...[url, request]: Parameters<typeof globalThis.fetch>
): Promise<Response> {
  // Nobody but the endpoint that is recorded gets the prompts, or gives the answer.
  const response = await globalThis.fetch(url, { ...request, redirect: "manual" });
  if (response.ok) return response;
  const { status, headers } = response;
  const to = status < 400 && headers.get("location");
  const body = to ? `it sends requests on to ${to}` : await response.text();
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
