/** Single keys of a person: at once from a terminal, as characters of standard input elsewhere. */

/** What is read of `process.stdin`. */
export interface KeyInput extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean | undefined;
  setRawMode?(raw: boolean): unknown;
}

/** Until the input ends, or whoever reads has enough. */
export async function* keysFrom(input: KeyInput): AsyncGenerator<string, void, void> {
  const raw = input.isTTY === true && input.setRawMode !== undefined;
  if (raw) input.setRawMode?.(true);
  try {
    for await (const chunk of input) {
      yield* keysIn(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
    }
  } finally {
    if (raw) input.setRawMode?.(false);
  }
}

/** Arrows and the like come as one sequence, which is no key of ours; line ends only end a line. */
function keysIn(text: string): string[] {
  const keys = text.match(/\u001b(?:[[O][0-9;]*[A-Za-z~])?|./gsu) ?? [];
  return keys.filter((key) => !/^\s$/u.test(key)).map((key) => key.toLowerCase());
}
