/** What evaluation, selection and preference pairs share: a data set and its answers, scored in order. */

import { dataError, messageOf } from "../core/errors.ts";
import { FINGERPRINT_VERSION, SequenceFingerprint } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import { type Example, type ExampleFields, toExample } from "../core/records.ts";
import type { GuardedScorer } from "../core/score.ts";
import { observeOccasion, readProvenance } from "../runs/manifest.ts";
import { filesAmong, openRows, type RowSource, type Rows } from "../runs/rows.ts";
import { RunFolder } from "../runs/run-folder.ts";
import type { Manifest } from "../runs/schemas.ts";
import { type AnyScorer, type OpenScorerOptions, withScorer } from "../scorers/open.ts";
import { type Joined, joinById, type Unknown } from "./join.ts";
import { PromptCheck } from "./prompt-check.ts";
import { describedBy, type StatedProvenance } from "./stated.ts";

/**
 * What every loop that scores is given; `jobs`, `concurrency` and `timeoutMs` say how it scores.
 * @see {@link evaluate}
 */
export interface ScoringOptions<F extends object = ExampleFields> extends OpenScorerOptions {
  readonly dataset: RowSource<Example<NoInfer<F>>>;
  /** Default: the built-in `math_final_line`. */
  readonly scorer?: AnyScorer<F> | undefined;
  /** For completions without a provenance file: which policy sampled them, and how. */
  readonly stated?: StatedProvenance | undefined;
  /** Called with the number of input bytes just read from files. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** The answers to the data set. */
interface Answers<A> {
  readonly rows: RowSource<A>;
  /** What messages call rows that have no file. */
  readonly label: string;
  /** What the manifest calls them. */
  readonly role: "completions" | "samples";
  readonly parse: (fields: Record<string, unknown>) => A;
  /** Examples that are scored at once. */
  readonly batchSize?: number;
  /** Use only the first so many examples. */
  readonly maxExamples?: number | undefined;
}

interface Answer {
  readonly id: string;
  readonly prompt_fingerprint?: string;
}

type Described = "fingerprint_version" | "inputs" | "examples" | "scorer";

/** A data set and its answers, joined and scored, that become a run. */
export interface JoinedRun<A> {
  readonly folder: RunFolder;
  /** Answers that name no example; complete once all is scored. */
  readonly unknown: Unknown;
  /** Batches in the data set's order, whatever order they are scored in. */
  scored<R>(score: (batch: Joined<A>[]) => Promise<R>): AsyncGenerator<R, void, void>;
  /** What every manifest says of the data, the scorer and the policy; once all is scored. */
  describe(): Promise<
    Pick<
      Manifest,
      Described | "policy" | "prompt" | "sampling" | "volatile" | "exposure" | "seeds_tried"
    >
  >;
}

export interface ScoringRun<A> extends JoinedRun<A> {
  readonly scorer: GuardedScorer;
}

type Kind = "eval" | "select" | "pairs";

/** Opens scorer, folder and rows for `work`, and lets go of them if it fails. */
export function withScoringRun<A extends Answer, F extends object, T>(
  kind: Kind,
  options: ScoringOptions<F> & RunOptions,
  { rows, label, role, parse, batchSize, maxExamples }: Answers<A>,
  work: (run: ScoringRun<A>) => Promise<T>,
): Promise<T> {
  return withScorer(options.scorer, options, (scorer) => {
    const sides = {
      dataset: openRows(options.dataset, "dataset", toExample, options),
      answers: openRows(rows, label, parse, options),
      inputs: filesAmong(options.dataset, rows),
    };
    return withJoinedRun(
      kind,
      options,
      { ...sides, role, batchSize, maxExamples, instrument: scorer, boundByRow: true },
      (run) => work({ ...run, scorer }),
    );
  });
}

interface RunOptions {
  readonly outdir: string;
  readonly force?: boolean | undefined;
  readonly stated?: StatedProvenance | undefined;
}

/** What is joined, and who scores it. */
export interface JoinedSides<A> {
  readonly dataset: Rows<Example>;
  readonly answers: Rows<A>;
  /** Files that must not lie in the folder that is written. */
  readonly inputs: readonly string[];
  readonly role: "completions" | "samples" | "trajectories";
  readonly batchSize?: number | undefined;
  readonly maxExamples?: number | undefined;
  readonly instrument: Pick<GuardedScorer, "identity" | "concurrency">;
  /** Whether answers name the prompts that they answer, where their provenance says so. */
  readonly boundByRow: boolean;
}

/** Opens the folder for `work`, and lets go of it if that fails. */
export async function withJoinedRun<A extends Answer, T>(
  kind: Kind,
  options: RunOptions,
  { dataset, answers, role, instrument, boundByRow, ...sides }: JoinedSides<A>,
  work: (run: JoinedRun<A>) => Promise<T>,
): Promise<T> {
  const occasion = observeOccasion();
  const { force } = options;
  const folder = await RunFolder.open(options.outdir, kind, { force, inputs: [...sides.inputs] });
  const unknown: Unknown = { count: 0, first_ids: [] };
  const examples = new ExampleFingerprints();
  const prompts = new PromptCheck({ dataset: dataset.label, answers: answers.label });
  const joined = prompts.watch(joinById(dataset, answers, unknown, sides.batchSize));
  const { concurrency } = instrument;
  try {
    return await work({
      folder,
      unknown,
      scored: (score) =>
        inOrder(examples.watch(first(sides.maxExamples, joined)), concurrency, score),
      async describe() {
        const provenance = await readProvenance(answers);
        if (boundByRow && provenance?.prompts_by_row) prompts.requireAllBound();
        return {
          fingerprint_version: FINGERPRINT_VERSION,
          inputs: [dataset.asInput("dataset"), answers.asInput(role)],
          examples: examples.identity(),
          scorer: instrument.identity,
          ...describedBy(provenance, options.stated, answers.path),
          prompt: provenance?.prompt ?? null,
          ...(provenance?.exposure && { exposure: provenance.exposure }),
          ...(provenance?.seeds_tried && { seeds_tried: provenance.seeds_tried }),
          volatile: {
            ...(await occasion()),
            jobs: concurrency,
            ...(provenance?.checkpoint && { checkpoint: provenance.checkpoint }),
          },
        };
      },
    });
  } catch (error) {
    await folder.leave();
    throw error;
  }
}

/** Maps a stream with up to `depth` calls in flight, and yields the results in the stream's order. */
export async function* inOrder<In, Out>(
  source: AsyncIterable<In>,
  depth: number,
  work: (item: In) => Promise<Out>,
): AsyncGenerator<Out, void, void> {
  const pending: Promise<Out>[] = [];
  for await (const item of source) {
    const result = work(item);
    result.catch(() => {}); // Reported where it is awaited, in order.
    pending.push(result);
    if (pending.length > depth) yield (await pending.shift()) as Out;
  }
  yield* pending;
}

/** The first `limit` rows; the rest is still read, so that the files are checked and fingerprinted. */
async function* first<T>(
  limit = Number.POSITIVE_INFINITY,
  batches: AsyncIterable<T[]>,
): AsyncGenerator<T[], void, void> {
  let left = limit;
  for await (const batch of batches) {
    if (left > 0) yield batch.slice(0, left);
    left -= batch.length;
  }
}

export class ExampleFingerprints {
  readonly #whole = new SequenceFingerprint();
  readonly #prompts = new SequenceFingerprint();
  #count = 0;

  add(example: Example): void {
    try {
      this.#whole.add(canonicalJson(example));
    } catch (error) {
      throw dataError(
        `example ${JSON.stringify(example.id)}: ${messageOf(error)}`,
        "Write the value as a string.",
      );
    }
    this.#prompts.add(JSON.stringify([example.id, example.prompt]));
    this.#count++;
  }

  /** Passes batches through, each example noted before anything else is done with it. */
  async *watch<T extends { readonly example: Example }>(
    batches: AsyncIterable<T[]>,
  ): AsyncGenerator<T[], void, void> {
    for await (const batch of batches) {
      for (const { example } of batch) this.add(example);
      yield batch;
    }
  }

  identity(): Manifest["examples"] {
    return {
      count: this.#count,
      sha256: this.#whole.digest(),
      prompts_sha256: this.#prompts.digest(),
    };
  }
}
