/**
 * A proxy of hallucination: addresses, quotations, names and numbers that neither the prompt nor the
 * expected answer has. It cannot know what is true.
 */

import { type AxisInput, axis, type Found } from "./axis.ts";

const URLS = /\bhttps?:\/\/[^\s<>"')\]]+|\bwww\.[^\s<>"')\]]+/gi;
const QUOTES = /"([^"\n]{8,300})"/g;
const NAMES = /\b[A-Z][a-z]+(?:[ -](?:(?:of|de|van|von) )?[A-Z][a-z]+)+/g;
const NUMBERS = /\d+(?:,\d{3})*(?:\.\d+)?/g;
const LIST_MARKS = /^[ \t]*\d{1,3}[.)]\s/gm;
/** A capital letter at the beginning of a sentence is no name. */
const OPENERS =
  /^(?:The|A|An|In|On|At|By|For|From|It|Its|He|She|We|You|They|This|That|These|Those|If|When|Then|So|But|And|Or|Yes|No|Final|Answer|Dear|My|Your|Our|Step)[ -]/;

export const hallucinationAxis = axis(
  {
    name: "hallucination",
    version: "1.0.0",
    spec: "A proxy: 1 / (1 + n), rounded down to hundredths, where n is the number of different web addresses, quotations of two words or more, names of two words or more and numbers in the completion that are in neither the prompt nor the expected answer. Whether a statement is true is not known.",
    codes: [
      ...["supported", "no_claims", "unsupported_address", "unsupported_quotation"],
      ...["unsupported_name", "unsupported_number"],
    ],
  },
  look,
);

function look({ prompt, reference, completion }: AxisInput): Found {
  const source = `${prompt}\n${reference}`;
  const { rest, found } = claimsOf(completion);
  const kinds: readonly (readonly [code: string, claims: Set<string>])[] = [
    ["unsupported_address", without(found.addresses, new Set(addressesIn(source)))],
    ["unsupported_quotation", quotesOutside(found.quotes, source)],
    ["unsupported_name", namesOutside(found.names, source)],
    ["unsupported_number", without(numbersIn(rest), new Set(numbersIn(source)))],
  ];
  const count = kinds.reduce((sum, [, claims]) => sum + claims.size, 0);
  const first = kinds.find(([, claims]) => claims.size > 0);
  if (first === undefined) {
    const hasClaims = Object.values(found).some((list) => list.length > 0) || /\d/.test(rest);
    return { reward: 1, code: hasClaims ? "supported" : "no_claims" };
  }
  const [code, claims] = first;
  const shown = [...claims].slice(0, 3).map((claim) => JSON.stringify(claim.slice(0, 60)));
  return {
    reward: Math.floor(100 / (1 + count)) / 100,
    code,
    message: `not in the prompt or the expected answer: ${shown.join(", ")}`,
  };
}

/** Numbers are looked for in what is left: those of an address or a list mark claim nothing. */
function claimsOf(completion: string) {
  const addresses = addressesIn(completion);
  const text = completion.replace(URLS, " ");
  const quotes = [...text.matchAll(QUOTES)]
    .map(([, quote = ""]) => squeezed(quote))
    .filter((quote) => quote.includes(" "));
  const names = (text.match(NAMES) ?? []).map((name) => name.replace(OPENERS, ""));
  return {
    rest: text.replace(LIST_MARKS, " "),
    found: { addresses, quotes, names: names.filter((name) => /[ -]/.test(name)) },
  };
}

const addressesIn = (text: string): string[] =>
  (text.match(URLS) ?? []).map((address) => address.toLowerCase().replace(/[.,;:!?/]+$/, ""));

/** "1,000.50" is 1000.5. */
function numbersIn(text: string): string[] {
  return (text.match(NUMBERS) ?? []).map((number) => {
    const [whole = "", part = ""] = number.replaceAll(",", "").split(".");
    const decimals = part.replace(/0+$/, "");
    return `${whole.replace(/^0+(?=\d)/, "")}${decimals === "" ? "" : `.${decimals}`}`;
  });
}

function without(claims: readonly string[], known: ReadonlySet<string>): Set<string> {
  return new Set(claims.filter((claim) => !known.has(claim)));
}

const squeezed = (text: string) => text.toLowerCase().replace(/\s+/g, " ").trim();

function quotesOutside(quotes: readonly string[], source: string): Set<string> {
  if (quotes.length === 0) return new Set();
  const known = squeezed(source);
  return new Set(quotes.filter((quote) => !known.includes(quote.replace(/[.,!?]$/, ""))));
}

function namesOutside(names: readonly string[], source: string): Set<string> {
  if (names.length === 0) return new Set();
  const known = new Set(source.toLowerCase().match(/[a-z]+/g) ?? []);
  return new Set(
    names.filter((name) => !(name.toLowerCase().match(/[a-z]+/g) ?? []).every((w) => known.has(w))),
  );
}

/** So that `harden` finds the scorer in edited copies of this file. */
export default hallucinationAxis;
