import type { Example, ExampleFields } from "../core/records.ts";
import type { RowSource } from "../runs/rows.ts";
import type { AnyScorer, OpenScorerOptions } from "../scorers/open.ts";

/**
 * What every loop that scores is given; `jobs`, `concurrency` and `timeoutMs` say how it scores.
 *
 * @see {@link evaluate}
 */
export interface ScoringOptions<F extends object = ExampleFields> extends OpenScorerOptions {
  readonly dataset: RowSource<Example<NoInfer<F>>>;
  /** Default: the built-in `math_final_line`. */
  readonly scorer?: AnyScorer<F> | undefined;
  /** Called with the number of input bytes just read from files. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}
