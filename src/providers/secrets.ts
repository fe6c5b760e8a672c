/** Redacts keys from all output: an endpoint may echo what it was sent. */

/** Shorter ones are placeholders for local servers, and could occur in a completion. */
const SHORTEST = 8;
const HIDDEN = "[key removed]";

/** A function that redacts the secrets from a text, in all encodings. */
export function hider(secrets: readonly string[]): (text: string) => string {
  const spellings = new Set(
    secrets
      .filter((secret) => secret.length >= SHORTEST)
      .flatMap((secret) => [
        secret,
        encodeURIComponent(secret),
        JSON.stringify(secret).slice(1, -1),
        Buffer.from(secret).toString("base64").replace(/=+$/, ""),
      ]),
  );
  // The longest first, in case one secret is a prefix of another.
  const longestFirst = [...spellings].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
}
