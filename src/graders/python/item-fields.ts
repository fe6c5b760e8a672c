/**
 * The fields of the item that a source reads, where its text shows them all: `item["a"]` and
 * `item.get("a")`. The gate scores rows again that repeat some fields only.
 */

const GRADE = /^(?:async\s+)?def\s+grade\s*\(\s*(\w+)\s*(?::[^,]*)?,\s*(\w+)\s*(?::[^,)]*)?\)/gm;
/** What reads variables without naming them. */
const INDIRECT = /\b(?:locals|vars|globals|eval|exec|getattr|inspect|sys|gc)\b/;

/** Undefined where the text does not show them. */
export function itemFieldsIn(source: string): string[] | undefined {
  const found = [...source.matchAll(GRADE)];
  const item = found[0]?.[2];
  if (found.length !== 1 || item === undefined || INDIRECT.test(source)) return undefined;
  const uses = source.match(new RegExp(`\\b${item}\\b`, "g"))?.length ?? 0;
  const plain = new RegExp(`\\b${item}(?:\\.get\\(|\\[)\\s*(["'])([^"'\\\\]*)\\1`, "g");
  const fields = [...source.matchAll(plain)].map((match) => match[2] as string);
  // The parameter itself is the one use that is not a read.
  return fields.length === uses - 1 ? [...new Set(fields)].sort() : undefined;
}
