/** Lines wider than a terminal, counting what is seen: no colours, and wide characters twice. */
export function tooWide(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replaceAll(/\u001b\[[0-9;]*m/g, ""))
    .filter((line) => [...line].reduce((sum, c) => sum + (isWide(c) ? 2 : 1), 0) > 80);
}

function isWide(character: string): boolean {
  return /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFF00-\uFF60]|\p{Emoji_Presentation}/u.test(
    character,
  );
}
