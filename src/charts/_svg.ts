/** Writing SVG: escaped text, numbers of fixed precision, attributes in the order they are given. */

import { escapeMarkup } from "../core/markup.ts";

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

/** Outside any image, and exact in 32-bit floats. */
const FAR = 20_000;

/** A coordinate with at most two decimals, never in exponent form and never "-0". */
export function px(value: number): string {
  const clamped = Math.min(FAR, Math.max(-FAR, value));
  return String(Math.round(clamped * 100) / 100 + 0);
}

/** Safe in text and in attributes, on one line, whatever the string holds. */
export function escapeText(text: string): string {
  return escapeMarkup(text).replace(/\s+/g, " ");
}
