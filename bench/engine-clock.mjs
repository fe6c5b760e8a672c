// Timing, quartiles and rounding for the engine benchmark.

/** Milliseconds of each of `count` calls, after one warm-up call. */
export async function times(count, call) {
  await call();
  const taken = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await call();
    taken.push(performance.now() - start);
  }
  return taken;
}

/**
 * The time of each, measured alternately: the lower quartile of all its calls, because disturbances
 * only make a call slower.
 */
export async function inTurn({ rounds, calls }, ...all) {
  const taken = all.map(() => []);
  for (let i = 0; i < rounds; i++) {
    for (const [k, call] of all.entries()) taken[k].push(...(await times(calls, call)));
  }
  return taken.map(lowerQuartile);
}

export function lowerQuartile(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 2];
}

export function round(value) {
  return Number(value.toPrecision(3));
}
