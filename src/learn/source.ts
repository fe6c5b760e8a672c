/** Where rows come from: whatever an algorithm said it needs. */

import type { TrainManifest } from "../runs/train-schemas.ts";
import type { Row } from "./algorithm.ts";

export type InputRecord = TrainManifest["inputs"][number];

/** Seconds; judging is what the policy and its reference make of completions that are there. */
export interface Spent {
  readonly sampling: number;
  readonly scoring: number;
  readonly judging: number;
}

export interface Batch {
  readonly rows: readonly Row[];
  /** What is worth recording of how they came about. */
  readonly record: Readonly<Record<string, number>>;
  readonly outcomes?: Readonly<Record<string, number>> | undefined;
  readonly seconds: Spent;
}

export interface Source {
  readonly inputs: readonly InputRecord[];
  /** Rows of every batch. */
  readonly rows: number;
  /** Tokens of the longest row. */
  readonly longest: number;
  /** Whether batches differ much in length, so that it pays to have a graph for each length. */
  readonly varied: boolean;
  /** The most tokens that a completion has. */
  readonly mostTokens: number;
  batch(step: number): Promise<Batch>;
}
