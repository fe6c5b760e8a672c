/** Where rows come from: whatever an algorithm said it needs. */

import type { TrainManifest } from "../runs/train-schemas.ts";
import type { Row } from "./algorithm.ts";

export type InputRecord = TrainManifest["inputs"][number];

export interface Batch {
  readonly rows: readonly Row[];
  /** What is worth recording of how they came about. */
  readonly record: Readonly<Record<string, number>>;
  readonly outcomes?: Readonly<Record<string, number>> | undefined;
  readonly seconds: { readonly sampling: number; readonly scoring: number };
}

export interface Source {
  readonly inputs: readonly InputRecord[];
  /** Rows of every batch. */
  readonly rows: number;
  /** Tokens of the longest row. */
  readonly longest: number;
  /** The most tokens that a completion has. */
  readonly mostTokens: number;
  batch(step: number): Promise<Batch>;
}
