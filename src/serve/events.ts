/** Server-sent events. They are pushed: a client that reads slowly must not hold up those behind it. */

/**
 * `produce` sends one value after the other, each of which becomes an event. It must not fail; what it
 * throws at once, before it first waits, is thrown here.
 */
export function eventStream(produce: (send: (value: unknown) => void) => Promise<void>): Response {
  const encoder = new TextEncoder();
  let gone = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (value: unknown) => {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        if (!gone) controller.enqueue(encoder.encode(`data: ${text}\n\n`));
      };
      void produce(send).then(() => gone || controller.close());
    },
    cancel() {
      gone = true;
    },
  });
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return new Response(body, { headers });
}
