/** What is wrong with a file: by rule, how often, and the first places. */

import { RULES, type RuleName, type Severity, severityOf } from "./rules.ts";

/** Places kept for each rule; the others are counted. */
const KEPT = 5;

export interface Place {
  /** Null where the whole file is meant. */
  readonly line: number | null;
  readonly reason: string;
}

export interface Finding {
  readonly rule: RuleName;
  readonly severity: Severity;
  readonly about: string;
  readonly count: number;
  readonly first: readonly Place[];
}

export class Findings {
  readonly #found = new Map<RuleName, { count: number; first: Place[] }>();

  add(rule: RuleName, line: number | null, reason: string): void {
    const known = this.#found.get(rule);
    const entry = known ?? { count: 0, first: [] };
    if (!known) this.#found.set(rule, entry);
    entry.count++;
    if (entry.first.length < KEPT) entry.first.push({ line, reason });
  }

  /** In the order of the rules. */
  list(): Finding[] {
    return (Object.keys(RULES) as RuleName[]).flatMap((rule) => {
      const entry = this.#found.get(rule);
      if (!entry) return [];
      return [{ rule, severity: severityOf(rule), about: RULES[rule].about, ...entry }];
    });
  }

  count(severity: Severity): number {
    return this.list().reduce((sum, one) => sum + (one.severity === severity ? one.count : 0), 0);
  }
}
