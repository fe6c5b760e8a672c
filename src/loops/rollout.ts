/**
 * Samples n answers to each example from a policy and writes them as a file that evaluation or
 * selection takes as it is. It reads the data set three times: to check it before the first
 * request, to sample, and to put the answers in order. It does not score.
 */

import { dataError, LockedRoomError } from "../core/errors.ts";
import { FINGERPRINT_VERSION } from "../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import {
  type Policy,
  type SampledCompletion,
  type SampleRequest,
  toAnswer,
} from "../core/policy.ts";
import { type Example, toExample } from "../core/records.ts";
import { ROLLOUT_SCHEMA } from "../runs/artifacts.ts";
import {
  answersName,
  type FinishedRollout,
  finishRollout,
  rolloutIn,
} from "../runs/finished-rollout.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import { observeOccasion } from "../runs/manifest.ts";
import { Journal, type RolloutIdentity } from "../runs/rollout-journal.ts";
import { RunFolder } from "../runs/run-folder.ts";
import type { Manifest } from "../runs/schemas.ts";
import { isPipe } from "../runs/whole-file.ts";
import { IdSet, refuseDuplicate } from "./join.ts";
import { inDataSetOrder } from "./rollout-order.ts";
import { type Prices, RolloutTally } from "./rollout-tally.ts";
import { ExampleFingerprints } from "./scoring-run.ts";

/** What `rollout` is given. @see {@link rollout} */
export interface RolloutOptions {
  readonly policy: Policy;
  readonly dataset: string;
  /** Answers to each example. One makes completions, more make packs of samples. */
  readonly n: number;
  readonly outdir: string;
  readonly resume?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly prices?: Prices | undefined;
  /** Further files that are read, such as the system prompt's. */
  readonly inputs?: readonly string[] | undefined;
  /** Called once, with the number of answers wanted and of those kept from an interrupted run. */
  readonly onStart?: ((wanted: number, kept: number) => void) | undefined;
  readonly onAnswer?: ((sampled: SampledCompletion) => void) | undefined;
}

/**
 * Samples completions of every example from a policy; an interrupted one can be resumed.
 * @example
 * ```ts
 * import { openEmbeddedPolicy, rollout } from "lockedroom";
 * const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 16, stop: [], seed: 0 };
 * const policy = await openEmbeddedPolicy("checkpoint", { sampling });
 * const { summary } = await rollout({ policy, dataset: "dataset.jsonl", n: 4, outdir: "runs/samples" });
 * console.log(summary);
 * await policy.close();
 * ```
 */
export async function rollout(options: RolloutOptions): Promise<FinishedRollout> {
  const { policy, n, outdir } = options;
  const occasion = observeOccasion();
  const folder = await RunFolder.open(outdir, "rollout", {
    force: options.force,
    resume: options.resume,
    inputs: [options.dataset, ...(options.inputs ?? [])],
  });
  let journal: Journal | undefined;
  try {
    const { dataset, examples } = await look(options.dataset);
    const sampled = {
      ...{ n, policy: policy.identity, prompt: policy.prompt },
      sampling: policy.sampling as unknown as JsonObject,
    };
    const identity: RolloutIdentity = { dataset_sha256: dataset.sha256, ...sampled };
    const done = options.resume && (await rolloutIn(folder, identity, options.force ?? false));
    if (done) {
      await folder.leave();
      return done;
    }
    journal = await Journal.open(folder, identity, options.resume ?? false);
    await sampleMissing(options, dataset, journal);

    const tally = new RolloutTally();
    const rows = await folder.lines(answersName(n));
    for await (const { id, answers } of inDataSetOrder(unchanged(dataset), journal.read(), n)) {
      for (const answer of answers) tally.add(answer);
      rows.add(canonicalJson(n === 1 ? { id, ...answers[0] } : { id, samples: answers }));
      await rows.flush();
    }
    await journal.close();
    return await finishRollout(
      folder,
      {
        schema: ROLLOUT_SCHEMA,
        fingerprint_version: FINGERPRINT_VERSION,
        command: "rollout",
        inputs: [dataset.asInput("dataset")],
        examples,
        ...sampled,
        volatile: await occasion(),
      },
      tally.summary(examples.count, options.prices),
    );
  } catch (error) {
    await journal?.close();
    await folder.leave();
    throw journal && (journal.added > 0 || !journal.isNew) ? withResumeHint(error) : error;
  }
}

/** The first pass: every line is checked and every id is its own before the first request. */
async function look(
  path: string,
): Promise<{ dataset: JsonlFile<Example>; examples: Manifest["examples"] }> {
  refusePipe(path);
  const dataset = new JsonlFile(path, toExample);
  const examples = new ExampleFingerprints();
  const seen = new IdSet();
  for await (const batch of dataset.batches()) {
    for (const example of batch) {
      if (seen.add(example.id)) await refuseDuplicate(dataset, example.id);
      examples.add(example);
    }
  }
  if (dataset.rows === 0) throw dataError(`${path} is empty`, "Give at least one example.");
  return { dataset, examples: examples.identity() };
}

/** A pipe is empty the second time; a missing file is reported when it is read. */
function refusePipe(path: string): void {
  if (!isPipe(path)) return;
  throw dataError(
    `${path} is not a file, and a rollout reads its data set more than once`,
    "Save the examples as a file.",
  );
}

/** The second pass: requests every (example, sample) that the journal does not hold. */
async function sampleMissing(
  { policy, n, onStart, onAnswer }: RolloutOptions,
  dataset: JsonlFile<Example>,
  journal: Journal,
): Promise<void> {
  const held = new IdSet();
  let kept = 0;
  for await (const batch of journal.read()) {
    kept += batch.length;
    for (const { id, sample } of batch) held.add(`${sample} ${id}`);
  }
  onStart?.(dataset.rows * n, kept);
  for await (const batch of unchanged(dataset)) {
    for await (const [{ example, sample }, sampled] of policy.sample(missing(batch, n, held))) {
      await journal.add({ id: example.id, sample, answer: toAnswer(sampled) });
      onAnswer?.(sampled);
    }
  }
}

function* missing(
  examples: readonly Example[],
  n: number,
  held: IdSet,
): Generator<SampleRequest, void> {
  for (const example of examples) {
    for (let sample = 0; sample < n; sample++) {
      if (!held.has(`${sample} ${example.id}`)) yield { example, sample };
    }
  }
}

/** Reads the data set again, and refuses it if it is not what was looked at. */
async function* unchanged({
  path,
  sha256,
}: JsonlFile<Example>): AsyncGenerator<Example[], void, void> {
  const again = new JsonlFile(path, toExample);
  yield* again.batches();
  if (again.sha256 === sha256) return;
  throw dataError(`${path} changed while it was used`, "Leave it alone until the rollout is done.");
}

/** Adds to the error how to continue: the answers so far are kept. */
function withResumeHint(error: unknown): unknown {
  if (!(error instanceof LockedRoomError)) return error;
  const resume = "The answers so far are kept: go on with the same command and --resume.";
  return new LockedRoomError(error.kind, error.message, {
    hint: error.hint ? `${error.hint} ${resume}` : resume,
  });
}
