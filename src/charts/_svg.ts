/** Writing SVG: escaped text, numbers of fixed precision, attributes in the order they are given. */

export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Children are SVG already; text goes through `escapeText` first. */
export function element(name: string, attributes: Attributes, ...children: string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        ` ${key}="${typeof value === "number" ? px(value) : escapeText(`${value}`)}"`,
    )
    .join("");
  const content = children.join("");
  return content === "" ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

export const group = (attributes: Attributes, ...children: string[]): string =>
  element("g", attributes, ...children);

/** Far outside any picture, and still exact in the floats of a renderer. */
const FAR = 20_000;

/** A coordinate with at most two decimals, never in exponent form and never "-0". */
export function px(value: number): string {
  const clamped = Math.min(FAR, Math.max(-FAR, value));
  return String(Math.round(clamped * 100) / 100 + 0);
}

/** What XML 1.0 does not allow at all, and the marks that turn text round. */
const FORBIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Cs}/gu;
const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Safe in text and in attributes, whatever the string holds. */
export function escapeText(text: string): string {
  return text
    .replace(FORBIDDEN, "\ufffd")
    .replace(/\s+/g, " ")
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
