/** Identity by content: SHA-256 of canonical JSON or of bytes. */

import { createHash, type Hash, hash } from "node:crypto";
import { canonicalJson } from "./json.ts";

/** Raised when the way a fingerprint is made changes; runs of different versions do not compare. */
export const FINGERPRINT_VERSION = 1;

/**
 * SHA-256 of the canonical JSON of a value.
 * @example
 * ```ts
 * import { fingerprint } from "lockedroom";
 * console.log(fingerprint({ a: 1, b: 2 }) === fingerprint({ b: 2, a: 1 })); // true
 * ```
 */
export function fingerprint(value: unknown): string {
  return sha256(canonicalJson(value));
}

export function sha256(content: string | Uint8Array): string {
  return hash("sha256", content);
}

/** The fingerprint of a sequence that is never held in memory: one canonical JSON text per line. */
export class SequenceFingerprint {
  readonly #hash: Hash = createHash("sha256");
  #pending: string[] = [];

  add(canonicalText: string): void {
    this.#pending.push(canonicalText);
    if (this.#pending.length === 512) this.#flush();
  }

  digest(): string {
    this.#flush();
    return this.#hash.digest("hex");
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    this.#hash.update(`${this.#pending.join("\n")}\n`);
    this.#pending = [];
  }
}
