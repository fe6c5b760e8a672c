/** Server-sent events. They are pushed: a slow client must not delay the requests behind it. */

type Send = (value: unknown) => void;

/**
 * Each value that `produce` sends becomes an event. When it fails later, the event `failed` makes of
 * the error is the last; what it throws synchronously is thrown here.
 */
export function eventStream(
  produce: (send: Send) => Promise<void>,
  failed: (error: unknown) => unknown,
): Response {
  const encoder = new TextEncoder();
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send: Send = (value) => {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        if (!cancelled) controller.enqueue(encoder.encode(`data: ${text}\n\n`));
      };
      void produce(send)
        .catch((error: unknown) => send(failed(error)))
        .then(() => cancelled || controller.close());
    },
    cancel() {
      cancelled = true;
    },
  });
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return new Response(body, { headers });
}
