/** A regular expression made wider or narrower by one step: anchors, quantifiers, classes. */

/** Patterns with a note each. */
export function regexEdits(pattern: string): (readonly [note: string, pattern: string])[] {
  const edits: (readonly [string, string])[] = [];
  for (const { at, text, inClass } of tokensOf(pattern)) {
    const replaced = (by: string) => pattern.slice(0, at) + by + pattern.slice(at + text.length);
    if (inClass) {
      if (text === "1-9") edits.push(["1-9 to 0-9", replaced("0-9")]);
      continue;
    }
    if (text === "^" || text === "$") edits.push([`without ${text}`, replaced("")]);
    if (text === "+") edits.push(["+ to *", replaced("*")]);
    if (text === "*") edits.push(["* to +", replaced("+")], ["without *", replaced("")]);
    if (text === "?") edits.push(["without ?", replaced("")]);
    if (text === "|") edits.push(["without |", replaced("")]);
    if (text === ".") edits.push([". to any character", replaced("[^]")]);
    if (text === "\\b") edits.push(["without \\b", replaced("")]);
    if (text === "\\.") edits.push(["\\. to .", replaced(".")]);
    if (text === " ") edits.push(["space to \\s*", replaced("\\s*")]);
    if (/^\[[^^]/.test(text)) edits.push(["class to any character", replaced("[^]")]);
    if (/^\{\d/.test(text)) edits.push([`${text} to *`, replaced("*")]);
  }
  return edits;
}

interface Token {
  readonly at: number;
  readonly text: string;
  readonly inClass: boolean;
}

/** Escapes, classes as a whole and range by range, counts, and single characters. */
function* tokensOf(pattern: string): Generator<Token> {
  for (let at = 0; at < pattern.length; ) {
    const rest = pattern.slice(at);
    const group = /^\(\?(?:[:=!]|<[=!]|<\w+>)/.exec(rest)?.[0];
    const text =
      group ??
      /^\\./s.exec(rest)?.[0] ??
      /^\[(?:\\.|[^\]\\])*\]/s.exec(rest)?.[0] ??
      /^\{\d+(?:,\d*)?\}/.exec(rest)?.[0] ??
      (rest[0] as string);
    if (!group) yield { at, text, inClass: false };
    if (text.startsWith("[") && text.length > 1)
      for (const range of text.matchAll(/[^\\]-./gs))
        yield { at: at + range.index, text: range[0], inClass: true };
    at += text.length;
  }
}
