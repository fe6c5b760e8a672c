/** What the plan reads out of a person's Markdown: headings, links, commands. */

interface Section {
  readonly heading: string;
  readonly body: string;
}

/** Each heading with everything up to the next one of its own rank or above. */
export function sections(text: string): Section[] {
  const lines = text.split(/\r?\n/);
  const headings = lines.flatMap((line, at) => {
    const found = /^(#{1,6})\s+(.*\S)/.exec(line);
    return found ? [{ at, rank: (found[1] as string).length, heading: found[2] as string }] : [];
  });
  return headings.map(({ at, rank, heading }, i) => {
    const next = headings.slice(i + 1).find((other) => other.rank <= rank);
    return { heading, body: lines.slice(at + 1, next?.at).join("\n") };
  });
}

/** The targets of links and images, and paths in backticks, without what follows a `#`. */
export function targets(text: string): string[] {
  const linked = [...text.matchAll(/\]\(\s*<?([^()\s<>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const quoted = [...text.matchAll(/`([\w./-]+)`/g)];
  return [...linked, ...quoted]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z][a-z0-9+.-]*:/i.test(target));
}

/** The targets of images alone. */
export function images(text: string): string[] {
  return [...text.matchAll(/!\[[^\]]*\]\(\s*<?([^()\s<>]+)>?/g)].map(([, target = ""]) => target);
}

/** Names that stand after `lockedroom` in a text, each once. */
export function commandsNamed(text: string): string[] {
  const found = [...text.matchAll(/\blockedroom\s+([a-z][a-z_-]+)/g)];
  return [...new Set(found.map(([, name = ""]) => name.replaceAll("_", "-")))];
}

export function listItems(text: string): number {
  return text.match(/^\s*(?:[-*+]|\d+[.)])\s+\S/gm)?.length ?? 0;
}
