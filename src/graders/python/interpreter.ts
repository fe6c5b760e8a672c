/** A Python process that grades rows, and what became of one row. */

export interface Interpreter {
  /** Starts it unless it runs, and reads the source; throws where it cannot be read. */
  ready(): Promise<void>;
  /** Which Python, such as "pyodide 314.0.7"; known once it is ready. */
  readonly runtime: string;
  /** `row` is JSON text with `sample` and `item`. */
  grade(row: string): Promise<Graded>;
  close(): Promise<void>;
}

export type Graded =
  | { readonly reward: number; readonly output?: string }
  /** The grader failed on this row. */
  | { readonly error: string; readonly output?: string }
  /** The interpreter is not there. */
  | { readonly lost: string };

export interface Limits {
  readonly seconds: number;
  readonly memoryMb: number;
}

/** What a source that cannot be run is, as opposed to a row that cannot be graded. */
export class BadSource extends Error {}
