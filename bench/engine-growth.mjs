// How speed follows batch and length, with everything else held fixed.
import { sampling, samplingGain } from "./engine-sampling.mjs";
import { trainingSpeed } from "./engine-training.mjs";

const SIZE = "nano";
/** What the command line uses unless told otherwise. */
const THREADS = 1;

/** Rows of points; `batches`, `lengths`, `sampled`, `groups` and `said` are the values that are tried. */
export async function growth(
  { batches, lengths, sampled, groups, said, shape, asked },
  calls,
  effort,
) {
  const train = (more) => trainingSpeed(SIZE, { ...shape, ...more }, THREADS, calls);
  const sample = (more) => sampling(SIZE, { ...asked, ...more, threads: THREADS }, calls);
  const gained = (tokens) =>
    samplingGain(SIZE, { ...asked, prompt: tokens, fresh: tokens, threads: THREADS }, effort);
  return [
    {
      name: `training ${SIZE}, batch, of ${shape.length} tokens each`,
      points: await points(batches, (batch) => train({ batch })),
    },
    {
      name: `training ${SIZE}, length, ${shape.batch} at once`,
      points: await points(lengths, (length) => train({ length })),
    },
    {
      name: `sampling ${SIZE}, batch`,
      points: await points(sampled, (batch) => sample({ batch })),
    },
    {
      name: `sampling ${SIZE}, samples of each prompt`,
      points: await points(groups, (group) => sample({ group })),
    },
    {
      name: `sampling ${SIZE}, tokens read and said: gain over the file · the own graph`,
      points: await points(said, gained),
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
