/** Keeps keys out of whatever is written: an endpoint may repeat what it was sent. */

/** Shorter ones guard nothing (a local server takes any text), and may be words of an answer. */
const SHORTEST = 8;
const HIDDEN = "[key removed]";

/** A function that takes every one of the secrets out of a text, however it is spelt. */
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
  // The longest first: where one secret begins with another, nothing of it stays behind.
  const longestFirst = [...spellings].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
}
