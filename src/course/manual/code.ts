/** Code blocks: commands are highlighted and can be copied without their output. */

import { escapeHtml } from "./html.ts";

const PROMPT = "$ ";
const SHELL = /^(console|bash|sh|shell)$/;
const WHOLE = /^(ts|js|mjs|json|jsonl|yaml|toml)$/;

interface Line {
  readonly text: string;
  readonly kind: "prompt" | "more" | "output";
}

export function codeBlock(text: string, language: string): string {
  const lines = sessionLines(text);
  const typed = SHELL.test(language) && lines.some(({ kind }) => kind === "prompt");
  const copy = typed ? commandsOf(lines) : copiesWhole(language) ? text : undefined;
  const html = typed ? lines.map(lineHtml).join("\n") : escapeHtml(text);
  const attribute = copy === undefined ? "" : ` data-copy="${escapeHtml(copy)}"`;
  return `<pre tabindex="0"${attribute}><code>${html}</code></pre>\n`;
}

const copiesWhole = (language: string) => SHELL.test(language) || WHOLE.test(language);

/** The commands of a session, without output. */
export function commandsOf(lines: readonly Line[]): string {
  return lines
    .filter(({ kind }) => kind !== "output")
    .map(({ text, kind }) => (kind === "prompt" ? text.slice(PROMPT.length) : text))
    .join("\n");
}

/** A command continues after a backslash and to the end of a here-document. */
export function sessionLines(text: string): Line[] {
  let open = false;
  let until: string | undefined;
  return text.split("\n").map((line) => {
    const starts = !open && until === undefined && line.startsWith(PROMPT);
    const kind = starts ? "prompt" : open || until !== undefined ? "more" : "output";
    if (kind === "output") return { text: line, kind };
    if (until === undefined) {
      open = line.endsWith("\\");
      until = /<<-?\s*(["']?)(\w+)\1/.exec(line)?.[2];
    } else if (line.trim() === until) until = undefined;
    return { text: line, kind };
  });
}

function lineHtml({ text, kind }: Line): string {
  if (kind === "output") return text === "" ? "" : `<samp>${escapeHtml(text)}</samp>`;
  if (kind === "more") return `<kbd>${escapeHtml(text)}</kbd>`;
  return `<i aria-hidden="true">${PROMPT}</i><kbd>${escapeHtml(text.slice(PROMPT.length))}</kbd>`;
}
