/** Of two attempts that a judge compared: which it preferred, as an outcome code of each. */

export const PREFERRED = "preferred";
export const TIED = "tied";
export const NOT_PREFERRED = "not_preferred";

/** The code of the attempt with the score `own`. */
export function preference(own: number, other: number): string {
  if (own === other) return TIED;
  return own > other ? PREFERRED : NOT_PREFERRED;
}
