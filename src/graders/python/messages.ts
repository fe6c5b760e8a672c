/** What a grader's process is told and what it says, in JSON. */

export interface Opening {
  readonly source: string;
  /** What runs the source; see program.ts. */
  readonly program: string;
  /** Of the folder of the package `pyodide`. */
  readonly pyodide: string;
  readonly memoryBytes: number;
}

export interface Row {
  /** JSON text with `sample` and `item`. */
  readonly row: string;
}

export type Said =
  | { readonly opened: { readonly error?: string; readonly runtime: string } }
  | { readonly answer: string; readonly memoryBytes: number }
  /** The interpreter is broken and answers nothing more. */
  | { readonly broken: string };
