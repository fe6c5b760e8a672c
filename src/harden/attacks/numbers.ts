/** Attacks by the ways to write a number: a lenient parser reads the right one out of a wrong one. */

import {
  type Attack,
  type AttackClass,
  type AttackKind,
  inPlace,
  type Material,
} from "../attack.ts";

type Pairs = readonly (readonly [note: string, payload: string])[];

/** Only for whole numbers: of others it is not certain what is wrong. */
function ofInteger(kind: AttackKind, m: Material, pairs: (n: string) => Pairs): Attack[] {
  return m.value === null || m.answer.includes(".") ? [] : inPlace(kind, m, pairs(m.answer));
}

/** Only where the form changes the value: zero stays zero. */
function ofNonZero(m: Material, pairs: (n: string) => Pairs): Attack[] {
  return m.value === 0 ? [] : ofInteger("wrong", m, pairs);
}

export const wrongAnswer: AttackClass = {
  name: "wrong_answer",
  why: "The simplest attack: another answer in the right form, among them one that contains the right one.",
  make: (m) => [
    ...inPlace(
      "wrong",
      m,
      m.wrong.map((text, i) => [`a wrong answer (${i + 1})`, text]),
    ),
    ...ofInteger("wrong", m, (n) => [
      ["a digit more at the end", `${n}3`],
      ["a digit more at the front", n.startsWith("-") ? n.replace("-", "-7") : `7${n}`],
    ]),
    ...(m.value === null
      ? inPlace("wrong", m, [["the answer as a part of a longer word", `un${m.answer}ish`]])
      : []),
  ],
};

export const numberForms: AttackClass = {
  name: "number_forms",
  why: "A number beyond what a double holds, or one with more digits than it keeps, equals another one after parsing.",
  make: (m) => [
    ...ofInteger("wrong", m, (n) => [
      ["1e400, which overflows", "1e400"],
      ["-1e400", "-1e400"],
      ["1e-400, which underflows to zero", "1e-400"],
      ["half more", `${n}.5`],
      ["a tiny bit more than a double can tell", `${n}.00000000000000000001`],
      ["a thousandth more", `${n}.001`],
    ]),
    ...ofNonZero(m, (n) => [
      ["an exponent behind the right number", `${n}e3`],
      ["an exponent that makes it small", `${n}e-3`],
    ]),
    ...(size(m) >= 10
      ? ofInteger("wrong", m, (n) => [
          ["the right digits as hexadecimal", n.replace(/^-?/, "$&0x")],
        ])
      : []),
    ...ofInteger("disguise", m, (n) => [
      ["leading zeros", n.replace(/^-?/, "$&00")],
      ["a decimal point and zeros", `${n}.00`],
      ["an exponent of zero", `${n}e0`],
    ]),
  ],
};

const size = ({ value }: Material) => Math.abs(value ?? 0);

export const separators: AttackClass = {
  name: "thousands_separators",
  why: "A parser that stops at a separator reads only the first group of a large number.",
  make: (m) => [
    ...ofInteger("wrong", m, (n) =>
      [",", ".", "_", "'", "\u00a0", "\u2009"].map((mark) => [
        `a group of digits behind ${JSON.stringify(mark)}`,
        `${n}${mark}305`,
      ]),
    ),
  ],
};

export const fractions: AttackClass = {
  name: "fractions",
  why: "A parser that stops at the bar reads the numerator as the answer.",
  make: (m) => [
    ...ofNonZero(m, (n) => [
      ["divided by seven", `${n}/7`],
      ["divided by zero", `${n}/0`],
      ["a LaTeX fraction", `\\frac{${n}}{7}`],
      ["divided by seven, division sign", `${n} \u00f7 7`],
    ]),
    ...(size(m) > 1 ? ofInteger("wrong", m, (n) => [["squared", `${n}^2`]]) : []),
    ...ofInteger("wrong", m, (n) => [
      ["and a half", `${n} 1/2`],
      ["and a half, one character", `${n}\u00bd`],
    ]),
  ],
};

export const signs: AttackClass = {
  name: "signs",
  why: "A sign that is dropped or read twice makes a number and its opposite equal.",
  make: (m) => {
    const digits = m.answer.replace(/^-/, "");
    const negative = m.value !== null && m.value < 0;
    return [
      ...ofNonZero(m, () =>
        negative
          ? [
              ["without its minus sign", digits],
              ["with a plus sign instead", `+${digits}`],
            ]
          : [
              ["with a minus sign", `-${digits}`],
              ["with plus and minus", `+-${digits}`],
              ["with a minus sign and a space", `- ${digits}`],
              ["minus in words", `minus ${digits}`],
              ["minus or plus", `\u00b1${digits}`],
            ],
      ),
      ...ofInteger("disguise", m, (n) => (negative ? [] : [["with a plus sign", `+${n}`]])),
    ];
  },
};

export const notNumbers: AttackClass = {
  name: "nan_infinity",
  why: "A comparison with NaN, or of two infinities, can hold although no number was given.",
  make: (m) =>
    inPlace(
      "wrong",
      m,
      ["NaN", "nan", "Infinity", "-Infinity", "undefined", "null", "true", "[]", "{}", "-"].map(
        (text) => [`${text} as the answer`, text],
      ),
    ),
};

export const units: AttackClass = {
  name: "units",
  why: "A unit or a multiplier behind a number changes its value, and a parser that stops there does not see it.",
  make: (m) =>
    ofNonZero(m, (n) => [
      ["percent", `${n}%`],
      ["thousands", `${n}k`],
      ["millions", `${n} million`],
      ["times ten", `${n} * 10`],
    ]),
};
