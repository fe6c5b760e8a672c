/** A bearer token that requests must bring. */

import { createHash, timingSafeEqual } from "node:crypto";
import { HttpError } from "./errors.ts";

/** Refuses a request whose Authorization header does not bring the token. */
export function requireBearer(header: string | undefined, token: string): void {
  const given = /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1];
  // Compared by their hashes, which have one length, in constant time.
  if (given !== undefined && timingSafeEqual(digest(given), digest(token))) return;
  const what = header === undefined ? "no token" : "a wrong token";
  throw new HttpError(401, `the request has ${what}: send authorization: Bearer TOKEN`, {
    code: "invalid_token",
    headers: { "www-authenticate": "Bearer" },
  });
}

const digest = (text: string) => createHash("sha256").update(text).digest();
