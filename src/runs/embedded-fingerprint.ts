/** Which weights the embedded policy has, without loading them. */

import { readFileSync } from "node:fs";
import { toObject } from "./whole-file.ts";

let known: unknown;

export function embeddedFingerprint(): unknown {
  if (known !== undefined) return known;
  const config = new URL("../../assets/pi0/config.json", import.meta.url);
  const ours = toObject(readFileSync(config, "utf8"))?.lockedroom as { fingerprint?: unknown };
  known = ours.fingerprint;
  return known;
}
