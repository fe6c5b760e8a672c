// Speed as a function of batch and length, with everything else fixed.
import { sampling, samplingGain } from "./engine-sampling.mjs";
import { trainingSpeed } from "./engine-training.mjs";

const SIZE = "nano";
/** The default of the command line. */
const THREADS = 1;

/** Rows of points for the given values of `batches`, `lengths`, `sampled`, `groups` and `tokens`. */
export async function growth(
  { batches, lengths, sampled, groups, tokens, shape, asked },
  calls,
  effort,
) {
  const train = (more) => trainingSpeed(SIZE, { ...shape, ...more }, THREADS, calls);
  const sample = (more) => sampling(SIZE, { ...asked, ...more, threads: THREADS }, calls);
  const gained = (count) =>
    samplingGain(SIZE, { ...asked, prompt: count, fresh: count, threads: THREADS }, effort);
  return [
    {
      name: `training ${SIZE}, batch, ${shape.length} tokens each`,
      points: await points(batches, (batch) => train({ batch })),
    },
    {
      name: `training ${SIZE}, length, batch of ${shape.batch}`,
      points: await points(lengths, (length) => train({ length })),
    },
    {
      name: `sampling ${SIZE}, batch`,
      points: await points(sampled, (batch) => sample({ batch })),
    },
    {
      name: `sampling ${SIZE}, samples per prompt`,
      points: await points(groups, (group) => sample({ group })),
    },
    {
      name: `sampling ${SIZE}, tokens per prompt and completion: speed-up over the exported file · the engine graph`,
      points: await points(tokens, gained),
    },
  ];
}

async function points(values, measure) {
  const found = [];
  for (const at of values) {
    const { tokensPerSecond, gain, ownGain } = await measure(at);
    found.push({ at, tokensPerSecond, ...(gain === undefined ? {} : { gain, ownGain }) });
  }
  return found;
}
