/** What would refuse a comparison, and is allowed because the caller says so; the report records it. */

import type { Reason } from "../runs/gate-report.ts";
import { HISTORY_UNKNOWN, ON_VALIDATION_DATA } from "./history.ts";
import type { GateOptions } from "./options.ts";

export class Allowed {
  readonly #allowable: ReadonlyMap<string, string>;
  readonly codes: string[] = [];

  constructor({
    allowDev = false,
    allowUnknownHistory = false,
  }: Pick<GateOptions, "allowDev" | "allowUnknownHistory">) {
    this.#allowable = new Map([
      ...(allowDev ? [[ON_VALIDATION_DATA, DEV_ALLOWED] as const] : []),
      ...(allowUnknownHistory ? [[HISTORY_UNKNOWN, HISTORY_ALLOWED] as const] : []),
    ]);
  }

  /** The reasons that are not allowed. */
  rest(reasons: readonly Reason[]): Reason[] {
    return reasons.filter(({ code }) => {
      if (this.#allowable.has(code)) this.codes.push(code);
      return !this.#allowable.has(code);
    });
  }

  notes(): string[] {
    return this.codes.flatMap((code) => this.#allowable.get(code) ?? []);
  }
}

const DEV_ALLOWED =
  "Allowed by --allow-dev: a policy is measured on validation data of its training, which its checkpoint may have been chosen by.";
const HISTORY_ALLOWED =
  "Allowed by --allow-unknown-history: the candidate does not say what it was trained on.";
