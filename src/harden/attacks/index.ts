/** The attack classes, in the order in which they are tried. */

import type { AttackClass } from "../attack.ts";
import {
  bidi,
  letterCase,
  lookAlikes,
  unicodeDigits,
  whiteSpace,
  zeroWidth,
} from "./characters.ts";
import { long } from "./long.ts";
import {
  fractions,
  notNumbers,
  numberForms,
  separators,
  signs,
  units,
  wrongAnswer,
} from "./numbers.ts";
import {
  comments,
  empty,
  injection,
  json,
  laundering,
  markup,
  patterns,
  severalFinals,
  sprays,
} from "./wording.ts";

export const ATTACK_CLASSES: readonly AttackClass[] = [
  wrongAnswer,
  empty,
  notNumbers,
  signs,
  numberForms,
  separators,
  fractions,
  units,
  unicodeDigits,
  lookAlikes,
  zeroWidth,
  bidi,
  whiteSpace,
  letterCase,
  severalFinals,
  sprays,
  laundering,
  comments,
  markup,
  json,
  patterns,
  injection,
  // Last, because a scorer that hangs ends the attacks.
  long,
];
