/** Words of a text in any script, with spaces between them or without. */

const SEGMENTS = new Intl.Segmenter("en", { granularity: "word" });

/** Segmenting takes time and memory by the square of the length, so a text is read by windows. */
const WINDOW = 256;

/** How many words a text has. */
export function words(text: string): number {
  return wordsOf(text).length;
}

/** The words, in order. */
export function wordsOf(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    const window = text.slice(at, at + WINDOW);
    const segments = [...SEGMENTS.segment(window)];
    // What stands last may go on behind the window: the next one begins with it.
    const cut =
      at + window.length < text.length && segments.length > 1 ? segments.pop() : undefined;
    for (const { segment, isWordLike } of segments) if (isWordLike) found.push(segment);
    at += cut?.index ?? window.length;
  }
  return found;
}
