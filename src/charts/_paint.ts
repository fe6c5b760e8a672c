/**
 * Colours by role. Every element has its colour as an attribute; the "auto" theme adds a style sheet
 * for dark mode, which renderers without media queries ignore.
 */

import type { Attributes } from "./_svg.ts";
import type { Theme } from "./spec.ts";

export type Paint = "paper" | "ink" | "muted" | "grid" | `c${number}`;

/**
 * Light, dark. The series' colours are those of Okabe and Ito, adjusted so that each has a contrast
 * of 3 with its background and all stay distinct for colour-blind readers (the tests measure it).
 */
export const COLOURS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  paper: ["#ffffff", "#14171c"],
  ink: ["#1b1e24", "#e8ebf0"],
  muted: ["#5b616b", "#a3abb8"],
  grid: ["#e3e6ea", "#2b3038"],
  c0: ["#0f6cbd", "#3a92dc"],
  c1: ["#b5460f", "#ff7d28"],
  c2: ["#0ea685", "#05c698"],
  c3: ["#a24e8c", "#bd5f8e"],
  c4: ["#b8861c", "#e6d301"],
  c5: ["#2f333b", "#e5eaf3"],
};

export const SLOTS = 6;

export interface Painter {
  /** `paint({ fill: "ink", stroke: "paper" })` as attributes. */
  paint(roles: { fill?: Paint; stroke?: Paint }): Attributes;
  /** The content of the style element; empty when the theme needs none. */
  readonly style: string;
}

export function makePainter(theme: Theme): Painter {
  const colour = (role: Paint | undefined) =>
    role === undefined ? undefined : COLOURS[role]?.[theme === "dark" ? 1 : 0];
  return {
    paint({ fill, stroke }) {
      const classes = [fill && `f-${fill}`, stroke && `s-${stroke}`].filter((name) => name);
      return {
        class: theme === "auto" ? classes.join(" ") : undefined,
        fill: colour(fill) ?? "none",
        stroke: colour(stroke),
      };
    },
    style: theme === "auto" ? DARK_STYLE : "",
  };
}

/** On the root element, so that the rules affect only the chart and not the page around it. */
export const ROOT_CLASS = "lockedroom-chart";

const DARK_STYLE = (() => {
  const roles = Object.entries(COLOURS);
  const properties = roles.map(([role, [, dark]]) => `--${role}:${dark}`).join(";");
  const rules = roles.map(
    ([role]) =>
      `.${ROOT_CLASS} .f-${role}{fill:var(--${role})}.${ROOT_CLASS} .s-${role}{stroke:var(--${role})}`,
  );
  return `@media (prefers-color-scheme:dark){.${ROOT_CLASS}{${properties}}${rules.join("")}}`;
})();
