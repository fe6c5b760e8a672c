/** Finds an object of a JSON text with one key twice: a parser keeps the last value without a word. */

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/gs;

/** The first such key; `json` is valid. */
export function repeatedKey(json: string): string | undefined {
  const keys: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(TOKEN)) {
    if (token === "{" || token === "[") keys.push(new Set());
    else if (token === "}" || token === "]") keys.pop();
    else if (colon !== undefined) {
      const key: string = JSON.parse(token.slice(0, -colon.length));
      const known = keys.at(-1);
      if (known?.has(key)) return key;
      known?.add(key);
    }
  }
  return undefined;
}
