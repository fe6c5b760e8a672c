/** A text as its tokens, for people to look at. */

import type { Tokenizer } from "./tokenizer.ts";

export interface InspectedToken {
  readonly position: number;
  readonly id: number;
  readonly bytes: Uint8Array;
  /** Null when the bytes are not whole characters. */
  readonly text: string | null;
}

export function inspectTokens(text: string, tokenizer: Tokenizer): InspectedToken[] {
  return [...tokenRows(tokenizer.encode(text), tokenizer)];
}

/** One by one, because a long text has millions of tokens. */
export function* tokenRows(ids: Iterable<number>, tokenizer: Tokenizer): Generator<InspectedToken> {
  let position = 0;
  for (const id of ids) {
    const bytes = tokenizer.bytesOf(id);
    yield { position: position++, id, bytes, text: textOf(bytes) };
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}
