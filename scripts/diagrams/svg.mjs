/** What both kinds of picture share: the frame, text in lines, and the charts' colours. */

import { makePainter, ROOT_CLASS } from "../../dist/charts/_paint.js";
import { element, escapeText, px } from "../../dist/charts/_svg.js";
import { FONT_FAMILY, textWidth } from "../../dist/charts/_text.js";

export { element, escapeText, px, textWidth };
export const { paint, style } = makePainter("auto");

export function frame({ title, about }, width, height, ...children) {
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  const root = { viewBox: `0 0 ${w} ${h}`, class: ROOT_CLASS, role: "img" };
  return `${element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: w,
      height: h,
      ...root,
      "font-family": FONT_FAMILY,
    },
    element("title", {}, escapeText(title)),
    element("desc", {}, escapeText(about)),
    element("style", {}, used(style, children.join(""))),
    element("rect", { width: w, height: h, rx: 8, ...paint({ fill: "paper" }) }),
    ...children,
  )}\n`;
}

/** The rules for the colours that this picture has; the palette holds more. */
function used(sheet, content) {
  const has = (role) => new RegExp(`[fs]-${role}\\b`).test(content) || role === "paper";
  return sheet
    .replace(/--(\w+):#\w+;?/g, (rule, role) => (has(role) ? rule : ""))
    .replace(/\.[\w-]+ \.[fs]-(\w+)\{[^}]*\}/g, (rule, role) => (has(role) ? rule : ""));
}

/** Lines of text round a middle. */
export function words(lines, x, y, { size, leading, bold, halo, role = "ink", anchor = "middle" }) {
  const first = y - ((lines.length - 1) * leading) / 2 + size * 0.35;
  const around = halo ? { "stroke-width": 4, "paint-order": "stroke" } : {};
  const attributes = { "font-size": size, "font-weight": bold ? 700 : undefined };
  return element(
    "g",
    {
      ...paint({ fill: role, ...(halo && { stroke: "paper" }) }),
      ...around,
      ...attributes,
      "text-anchor": anchor,
    },
    ...lines.map((line, i) => element("text", { x, y: first + i * leading }, escapeText(line))),
  );
}
