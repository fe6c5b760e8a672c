/** What every run note has, of whatever kind its run is. */

import { expect } from "vitest";
import { api } from "./cli.ts";

/** The note states these facts, and leaves every judgement to a person. */
export function expectRunNote(note: string, ...facts: readonly string[]): void {
  for (const label of Object.values(api.NOTE_FIELDS)) {
    expect(note).toContain(`- **${label}:** _yours to write`);
  }
  for (const fact of facts) expect(note).toContain(fact);
  const examples = /\*\*Two concrete examples:\*\*\n((?: {2}- .*\n)+)/.exec(note)?.[1] ?? "";
  expect(examples.trim().split("\n")).toHaveLength(2);
  // A person reads it: no record is dumped on one line.
  expect(note.split("\n").filter((line) => line.length > 400)).toEqual([]);
  // An edit can be told from what the command wrote.
  expect(note).toMatch(/<!-- untouched [0-9a-f]{64} -->\n$/);
}
