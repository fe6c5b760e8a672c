// Writes measured tables into docs/benchmarks.md, between markers.
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = new URL("../docs/benchmarks.md", import.meta.url);

/** Replaces what is between `<!-- marker -->` and `<!-- /marker -->`. */
export function updatePage(marker, tables) {
  const text = readFileSync(PAGE, "utf8");
  const between = new RegExp(`(<!-- ${marker} -->\n)[\\s\\S]*?(<!-- /${marker} -->)`);
  if (!between.test(text)) throw new Error(`docs/benchmarks.md has no <!-- ${marker} --> markers`);
  writeFileSync(
    PAGE,
    text.replace(between, (_, open, close) => open + tables + close),
  );
}

export const row = (cells) => `| ${cells.join(" | ")} |`;

export function table(header, rows) {
  return [row(header), row(header.map(() => "---")), ...rows.map(row)];
}
