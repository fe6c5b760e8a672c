/**
 * Refuses what the data of an evaluation cannot give: a slice by a field that no example has, more
 * samples than any pack holds. Files are looked at before anything is scored, and only as far as needed;
 * rows that can be read once are counted as they go by.
 */

import { dataError } from "../core/errors.ts";
import {
  type Completion,
  type Example,
  isFields,
  type SelectionPack,
  toExample,
  toSelectionPack,
} from "../core/records.ts";
import { NO_VALUE, slicesOf } from "../core/slices.ts";
import { nearestName } from "../core/spelling.ts";
import { visibleShort } from "../core/visible.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import type { RowSource } from "../runs/rows.ts";
import { isPipe } from "../runs/whole-file.ts";
import type { Joined } from "./join.ts";

interface Asked {
  readonly dataset: RowSource<unknown>;
  readonly completions: RowSource<unknown>;
  readonly slice?: readonly string[] | undefined;
  readonly repeats?: number | undefined;
}

export class AskedFor {
  readonly #fields: SliceFields;
  readonly #packs: PackSizes;

  private constructor({ slice = [], repeats = 0 }: Asked) {
    this.#fields = new SliceFields(slice);
    this.#packs = new PackSizes(repeats);
  }

  static async of(asked: Asked): Promise<AskedFor> {
    const found = new AskedFor(asked);
    await lookAhead(asked.dataset, toExample, found.#fields);
    await lookAhead(asked.completions, toSelectionPack, found.#packs);
    return found;
  }

  /** Examples whose answers are no packs. */
  see(examples: readonly Example[]): void {
    for (const example of examples) if (!this.#fields.done) this.#fields.see(example);
  }

  /** Passes rows through. */
  watch<T extends Joined<Completion | SelectionPack>>(batch: readonly T[]): readonly T[] {
    for (const { example, answer } of batch) {
      if (!this.#fields.done) this.#fields.see(example);
      if (!this.#packs.done && answer && "samples" in answer) this.#packs.see(answer);
    }
    return batch;
  }

  /** Once all rows went by. */
  require(): void {
    this.#fields.require("the data set");
    this.#packs.require("the completions");
  }
}

interface Check<T> {
  /** Nothing further can be refused. */
  readonly done: boolean;
  see(row: T): void;
  require(where: string): void;
}

async function lookAhead<T>(
  source: RowSource<unknown>,
  parse: (fields: Record<string, unknown>) => T,
  check: Check<T>,
): Promise<void> {
  if (check.done || typeof source !== "string" || isPipe(source)) return;
  for await (const batch of new JsonlFile(source, parse).batches())
    for (const row of batch) {
      check.see(row);
      if (check.done) return;
    }
  check.require(source);
}

class SliceFields implements Check<Example> {
  readonly #wanted: Set<string>;
  /** What the examples have instead. */
  readonly #known = new Set<string>();

  constructor(fields: readonly string[]) {
    this.#wanted = new Set(fields);
  }

  get done(): boolean {
    return this.#wanted.size === 0;
  }

  see(example: Example): void {
    const found = slicesOf(example, [...this.#wanted]);
    for (const field of this.#wanted) if (found[field] !== NO_VALUE) this.#wanted.delete(field);
    if (this.done || this.#known.size > MOST_KNOWN) return;
    for (const name of fieldsOf(example)) this.#known.add(name);
  }

  require(where: string): void {
    const [missing] = this.#wanted;
    if (missing === undefined || this.#known.size === 0) return;
    const names = [...this.#known].sort();
    const near = nearestName(missing, names);
    const listed = names.slice(0, MOST_LISTED).map((name) => visibleShort(name, 40));
    if (names.length > MOST_LISTED) listed.push("…");
    throw dataError(
      `--slice ${visibleShort(missing, 40)}: no example of ${where} has this field`,
      `${near === undefined ? "" : `Did you mean ${visibleShort(near, 40)}? `}The examples have ${listed.join(", ")}.`,
    );
  }
}

const MOST_KNOWN = 1000;
const MOST_LISTED = 20;

/** Names as --slice takes them; the parts of an object instead of the object. */
function fieldsOf(fields: object, before = ""): string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    isFields(value) ? fieldsOf(value, `${before}${name}.`) : [before + name],
  );
}

class PackSizes implements Check<Pick<SelectionPack, "samples">> {
  readonly #wanted: number;
  #most = 0;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  get done(): boolean {
    return this.#most >= this.#wanted;
  }

  see({ samples }: Pick<SelectionPack, "samples">): void {
    this.#most = Math.max(this.#most, samples.length);
  }

  require(where: string): void {
    if (this.done || this.#most === 0) return;
    const held = this.#most === 1 ? "1 sample" : `${this.#most} samples`;
    throw dataError(
      `--repeats ${this.#wanted}: no pack of ${where} holds more than ${held}`,
      this.#most === 1
        ? "Sample more with rollout --n, or leave --repeats out and use its completions."
        : `Use --repeats ${this.#most}, or sample more with rollout --n ${this.#wanted}.`,
    );
  }
}
