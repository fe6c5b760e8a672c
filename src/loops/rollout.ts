/**
 * Samples n answers to each example from a policy and writes them as a file that evaluation or
 * selection takes as it is. It reads the data set three times: to check it before the first
 * request, to sample, and to put the answers in order. It does not score.
 */

import { continuable, dataError, LockedRoomError } from "../core/errors.ts";
import { type ExampleSketch, SketchMaker } from "../core/example-sketch.ts";
import { FINGERPRINT_VERSION } from "../core/fingerprint.ts";
import { IdSet } from "../core/id-set.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import {
  type Policy,
  type SampledCompletion,
  type SampleRequest,
  toAnswer,
} from "../core/policy.ts";
import { promptFingerprint } from "../core/prompt-fingerprint.ts";
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
import type { NotedAnswer } from "../runs/note-facts.ts";
import { ANSWERS, Journal, type RolloutIdentity } from "../runs/rollout-journal.ts";
import { seedsTried, type TriedRollout } from "../runs/rollout-ledger.ts";
import type { RolloutManifest } from "../runs/rollout-schemas.ts";
import { RunFolder } from "../runs/run-folder.ts";
import { isPipe } from "../runs/whole-file.ts";
import { ExposureCount } from "./exposure.ts";
import { refuseDuplicate } from "./join.ts";
import { LatencyTally, type Throughput } from "./latency-tally.ts";
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
    const { dataset, sketch, ...found } = await look(options.dataset, policy);
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
    journal = await Journal.open(folder, identity, options.resume ?? false, ANSWERS);
    // Counted before the first answer: whoever sees answers has tried this seed.
    const seeds_tried = await triesOf(policy, found.examples, sketch);
    const throughput = await sampleMissing(options, dataset, journal);

    const tally = new RolloutTally();
    const timing = new LatencyTally();
    const concrete: NotedAnswer[] = [];
    const rows = await folder.lines(answersName({ n }));
    for await (const { example, answers, latencies } of inDataSetOrder(
      unchanged(dataset),
      journal.read(),
      n,
    )) {
      for (const answer of answers) tally.add(answer);
      timing.add(latencies);
      if (concrete.length < 2 && answers[0]) concrete.push({ ...answers[0], id: example.id });
      const named = { id: example.id, prompt_fingerprint: promptFingerprint(example.prompt) };
      rows.add(canonicalJson({ ...named, ...(n === 1 ? answers[0] : { samples: answers }) }));
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
        ...{ ...found, ...sampled, seeds_tried },
        volatile: {
          ...(await occasion()),
          ...(policy.place && { checkpoint: policy.place.path }),
          ...timing.record(throughput),
        },
      },
      tally.summary(found.examples.count, options.prices),
      concrete,
    );
  } catch (error) {
    await journal?.close();
    await folder.leave();
    throw journal && (journal.added > 0 || !journal.isNew) ? withResumeHint(error) : error;
  }
}

interface Looked extends Pick<RolloutManifest, "examples" | "exposure"> {
  readonly dataset: JsonlFile<Example>;
  readonly sketch: ExampleSketch;
}

/**
 * The first pass, before the first request: every line is checked, the policy can read every prompt,
 * and every id is its own.
 */
async function look(path: string, policy: Policy): Promise<Looked> {
  refusePipe(path);
  const dataset = new JsonlFile(path, (fields) => readable(toExample(fields), policy));
  const examples = new ExampleFingerprints();
  const exposed = new ExposureCount(policy.seen);
  const sketch = new SketchMaker();
  const seen = new IdSet();
  for await (const batch of dataset.batches()) {
    for (const example of batch) {
      if (seen.add(example.id)) await refuseDuplicate(dataset, example.id);
      examples.add(example);
      exposed.add(example);
      if (policy.place?.ledger) sketch.add(example);
    }
  }
  if (dataset.rows === 0) throw dataError(`${path} is empty`, "Give at least one example.");
  return {
    ...{ dataset, sketch: sketch.sketch() },
    ...{ examples: examples.identity(), exposure: exposed.exposure() },
  };
}

/** The example, if the policy can read its prompt; the error names it, and the reader adds the line. */
function readable(example: Example, policy: Policy): Example {
  try {
    policy.requirePrompt?.(example.prompt);
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    const { kind, message, hint = "" } = error;
    throw new LockedRoomError(kind, `example ${JSON.stringify(example.id)}: ${message}`, { hint });
  }
  return example;
}

/** With how many seeds the policy has answered these examples, by the ledger in its folder. */
export async function triesOf(
  policy: Policy,
  { prompts_sha256 }: RolloutManifest["examples"],
  sketch: ExampleSketch,
  playsGames = false,
): Promise<number | null> {
  if (!policy.place?.ledger) return null;
  return seedsTried(policy.place.ledger, triedRollout(policy, prompts_sha256, sketch, playsGames));
}

/** A rollout as the ledger of its checkpoint lists it. */
export function triedRollout(
  {
    identity,
    prompt,
    sampling: { seed, ...sampling },
  }: Pick<Policy, "identity" | "prompt" | "sampling">,
  prompts_sha256: string,
  sketch: ExampleSketch,
  /** In an environment, where the seed also chooses the games. */
  playsGames = false,
): TriedRollout {
  const greedy = !playsGames && (sampling.temperature === 0 || sampling.top_k === 1);
  return {
    policy: String(identity.fingerprint),
    ...{ prompts_sha256, prompt, sampling: sampling as unknown as JsonObject },
    ...{ seed: greedy ? null : seed, examples: sketch.stored() },
  };
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
): Promise<Throughput> {
  onStart?.(dataset.rows * n, journal.kept);
  const began = performance.now();
  let tokens = 0;
  for await (const batch of unchanged(dataset)) {
    for await (const [{ example, sample }, sampled] of policy.sample(missing(batch, n, journal))) {
      const { ms, completion_tokens } = sampled;
      tokens += completion_tokens;
      const measured = ms === undefined ? {} : { ms };
      await journal.add({ id: example.id, sample, answer: toAnswer(sampled), ...measured });
      onAnswer?.(sampled);
    }
  }
  return { tokens, seconds: (performance.now() - began) / 1000 };
}

function* missing(
  examples: readonly Example[],
  n: number,
  journal: Journal,
): Generator<SampleRequest, void> {
  for (const example of examples) {
    for (let sample = 0; sample < n; sample++) {
      if (!journal.holds(example.id, sample)) yield { example, sample };
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
  return continuable(
    error,
    "The answers so far are kept: go on with the same command and --resume.",
  );
}
