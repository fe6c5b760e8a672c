/** Maps a stream with up to `depth` calls in flight, and yields the answers in the stream's order. */
export async function* inOrder<In, Out>(
  source: AsyncIterable<In>,
  depth: number,
  work: (item: In) => Promise<Out>,
): AsyncGenerator<Out, void, void> {
  const flying: Promise<Out>[] = [];
  for await (const item of source) {
    const answer = work(item);
    answer.catch(() => {}); // Reported where it is awaited, in order.
    flying.push(answer);
    if (flying.length > depth) yield (await flying.shift()) as Out;
  }
  yield* flying;
}
