/**
 * Keeps web pages out. A page elsewhere can make a browser on this machine send requests here: under
 * a name of its own that it points at 127.0.0.1 (DNS rebinding), or plainly, with an Origin that
 * tells. No CORS header is ever sent.
 */

import { ApiError } from "./errors.ts";

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** Throws when the request is not for this machine, or comes from a page that is not of this server. */
export function refuseForeign(headers: Headers, port: number): void {
  const host = headers.get("host") ?? "";
  if (!LOOPBACK.includes(host.toLowerCase().replace(/:\d*$/, ""))) {
    throw new ApiError(
      403,
      "this server answers only under the names 127.0.0.1, localhost and [::1]",
      { code: "host_not_allowed" },
    );
  }
  const origin = headers.get("origin");
  if (origin === null || LOOPBACK.some((name) => origin === `http://${name}:${port}`)) return;
  throw new ApiError(403, "this server answers no web page of another origin", {
    code: "origin_not_allowed",
  });
}
