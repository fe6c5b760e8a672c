/**
 * Blocks requests from web pages of other origins. A page can make a browser on this machine send
 * requests here: under a host name that resolves to 127.0.0.1 (DNS rebinding), or directly, in which
 * case the Origin header shows it. No CORS header is ever sent.
 */

import { HttpError } from "./errors.ts";

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** Throws unless the Host is this machine and the Origin, where there is one, is this server. */
export function requireSameOrigin(headers: Headers, port: number): void {
  const host = headers.get("host") ?? "";
  if (!LOOPBACK.includes(host.toLowerCase().replace(/:\d*$/, ""))) {
    throw new HttpError(403, "the Host must be 127.0.0.1, localhost or [::1]", {
      code: "host_not_allowed",
    });
  }
  const origin = headers.get("origin");
  if (origin === null || LOOPBACK.some((name) => origin === `http://${name}:${port}`)) return;
  throw new HttpError(403, "requests from web pages of another origin are refused", {
    code: "origin_not_allowed",
  });
}
