/** Prompts on one line each, cut so that they can be told apart. */

import { columns, visible, visibleShort } from "../core/visible.ts";

/** Less than this in common is not worth cutting. */
const LEAST_SHARED = 16;

/** Shows prompts of one list: what all begin with is left out of those that do not fit. */
export function promptShortener(prompts: readonly string[], width: number) {
  const shared = sharedBeginning(prompts);
  return (prompt: string): string => {
    if (columns(visible(prompt)) <= width) return visible(prompt);
    if (shared >= LEAST_SHARED && shared < prompt.length)
      return `…${visibleShort(prompt.slice(shared), width - 1)}`;
    return cutMiddle(prompt, width);
  };
}

/** The length of what all prompts begin with, up to the start of a word; 0 for a single prompt. */
function sharedBeginning(prompts: readonly string[]): number {
  const [first = "", ...others] = [...new Set(prompts)];
  if (others.length === 0) return 0;
  let shared = first.length;
  for (const other of others) {
    let i = 0;
    while (i < shared && i < other.length && first[i] === other[i]) i++;
    shared = i;
  }
  while (shared > 0 && !/\s/.test(first[shared - 1] ?? "")) shared--;
  return shared;
}

/** Instructions are at the beginning of a prompt, the question is at its end. */
function cutMiddle(prompt: string, width: number): string {
  const characters = [...visible(prompt)];
  const note = ` … (${prompt.length} characters) … `;
  const room = width - note.length;
  let [head, tail] = ["", ""];
  for (let i = 0; i < characters.length; i++) {
    const next = characters[i] as string;
    const last = characters[characters.length - 1 - i] as string;
    if (columns(head + next) <= room / 2) head += next;
    if (columns(last + tail) <= room / 2) tail = last + tail;
  }
  return head + note + tail;
}
