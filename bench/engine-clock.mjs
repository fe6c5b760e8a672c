// Times, medians and rounding for the engine's benchmark.

/** Milliseconds of each of `count` calls, after one that is not counted: it wakes the threads. */
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

/** The median time of each of two, and of their ratio, from rounds in which they take turns. */
export async function inTurn({ rounds, calls }, ours, floor) {
  const [our, their] = [[], []];
  for (let i = 0; i < rounds; i++) {
    our.push(median(await times(calls, ours)));
    their.push(median(await times(calls, floor)));
  }
  return {
    ours: median(our),
    floor: median(their),
    ratio: median(their.map((ms, i) => ms / our[i])),
  };
}

export function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

export function round(value) {
  return Number(value.toPrecision(3));
}
