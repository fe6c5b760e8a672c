/** Attacks by characters: what is shown, what is compared and what is dropped are not the same. */

import { type AttackClass, inPlace, type Material } from "../attack.ts";

const SCRIPTS = { "Arabic-Indic": 0x0660, Devanagari: 0x0966, "full-width": 0xff10 } as const;
const HIDDEN = {
  "zero-width space": "\u200b",
  "zero-width joiner": "\u200d",
  "soft hyphen": "\u00ad",
  "word joiner": "\u2060",
  "byte order mark": "\ufeff",
} as const;
const BIDI = {
  "right-to-left mark": "\u200f",
  "right-to-left override": "\u202e",
  "left-to-right isolate": "\u2066",
} as const;
const SPACES = { "no-break space": "\u00a0", "line feed": "\n", tab: "\t", "em space": "\u2003" };

const inScript = (zero: number, text: string) =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(zero + Number(digit)));

/** A further digit that any reader counts, so that the number is another one. */
const longer = ({ answer, value }: Material, between: string, digit = "3"): string[] =>
  value === null || answer.includes(".") ? [] : [`${answer}${between}${digit}`];

const middle = (text: string, inserted: string) =>
  `${text.slice(0, -1)}${inserted}${text.slice(-1)}`;

export const unicodeDigits: AttackClass = {
  name: "unicode_digits",
  why: "A pattern for digits of any script, or one that drops them, reads another number than is written.",
  make: (m) =>
    m.value === null
      ? []
      : Object.entries(SCRIPTS).flatMap(([script, zero]) => [
          ...inPlace("wrong", m, [
            [`a wrong number in ${script} digits`, inScript(zero, m.wrong[0] as string)],
          ]),
          ...inPlace(
            "wrong",
            m,
            longer(m, "", inScript(zero, "3")).map((text) => [
              `a further ${script} digit behind the right number`,
              text,
            ]),
          ),
          ...inPlace("disguise", m, [[`the answer in ${script} digits`, inScript(zero, m.answer)]]),
        ]),
};

export const lookAlikes: AttackClass = {
  name: "look_alikes",
  why: "Letters and signs that look like others get past a check that maps or drops them.",
  make: (m) => {
    const text = m.answer;
    const disguised = [
      ["letter O for zero", text.replaceAll("0", "O")],
      ["letter l for one", text.replaceAll("1", "l")],
      ["Cyrillic a for a", text.replaceAll("a", "\u0430")],
      ["Cyrillic o for o", text.replaceAll("o", "\u043e")],
      ["Cyrillic e for e", text.replaceAll("e", "\u0435")],
    ] as const;
    const marker = m.form.before.replace("i", "\u0456").replace("A", "\u0391");
    const other = m.others[0];
    return [
      ...inPlace(
        "wrong",
        m,
        longer(m, "", "O").map((shown) => ["a letter O behind the right number", shown]),
      ),
      ...inPlace(
        "wrong",
        m,
        m.value !== null && m.value > 0
          ? [
              ["a minus sign U+2212 before the right number", `\u2212${text}`],
              ["an en dash before the right number", `\u2013${text}`],
              ["a full-width minus before the right number", `\uff0d${text}`],
            ]
          : [],
      ),
      ...inPlace(
        "disguise",
        m,
        disguised.filter(([, shown]) => shown !== text),
      ),
      ...(other && marker !== m.form.before
        ? [
            {
              kind: "hedge" as const,
              note: "one answer behind a look-alike marker, another behind the real one",
              completion: `${marker}${text}${m.form.after}\n${m.write(other.answer)}`,
              payload: `${marker}${text}${m.form.after}\n${m.write(other.answer)}`,
              offers: [other],
            },
          ]
        : []),
    ];
  },
};

export const zeroWidth: AttackClass = {
  name: "zero_width",
  why: "Characters that are not shown split a number for the scorer and not for a reader.",
  make: (m) =>
    Object.entries(HIDDEN).flatMap(([name, hidden]) => [
      ...inPlace(
        "wrong",
        m,
        longer(m, hidden).map((text) => [`${name} and a further digit`, text]),
      ),
      ...inPlace("wrong", m, [
        [`a wrong answer with a ${name}`, middle(m.wrong[0] as string, hidden)],
      ]),
      ...inPlace("disguise", m, [[`${name} inside the answer`, middle(m.answer, hidden)]]),
    ]),
};

export const bidi: AttackClass = {
  name: "bidi_controls",
  why: "Direction controls show a number in another order than the one that is scored.",
  make: (m) =>
    Object.entries(BIDI).flatMap(([name, control]) => [
      ...inPlace(
        "wrong",
        m,
        longer(m, control).map((text) => [`${name} and a further digit`, text]),
      ),
      ...inPlace("disguise", m, [[`${name} before the answer`, control + m.answer]]),
    ]),
};

export const whiteSpace: AttackClass = {
  name: "white_space",
  why: "White space that is dropped inside a number joins digits, and white space alone reads as zero.",
  make: (m) => [
    ...Object.entries(SPACES).flatMap(([name, space]) => [
      ...inPlace("wrong", m, [
        [`a wrong answer between two of ${name}`, `${space}${m.wrong[0]}${space}`],
      ]),
      ...inPlace("disguise", m, [[`${name} before the answer`, space + m.answer]]),
      ...inPlace("wrong", m, [[`only ${name}`, space]]),
    ]),
    ...inPlace(
      "wrong",
      m,
      m.value !== null && m.answer.replace("-", "").length > 1
        ? [["the digits of a wrong number, one a line", [...`${m.answer}3`].join("\n")]]
        : [],
    ),
  ],
};

export const letterCase: AttackClass = {
  name: "letter_case",
  why: "A marker that is accepted in any case can be written twice, with two answers.",
  make: (m) => {
    const [upper, lower] = [m.form.before.toUpperCase(), m.form.before.toLowerCase()];
    const other = m.others[0];
    const completion = `${upper}${m.answer}${m.form.after}\n${lower}${other?.answer}${m.form.after}`;
    return [
      ...(other && upper !== lower
        ? [
            {
              kind: "hedge" as const,
              note: "two answers, behind the marker in upper and in lower case",
              completion,
              payload: completion,
              offers: [other],
            },
          ]
        : []),
      ...inPlace(
        "disguise",
        m,
        [m.answer.toUpperCase(), m.answer.toLowerCase()]
          .filter((text) => text !== m.answer)
          .map((text) => ["the answer in another case", text]),
      ),
    ];
  },
};
