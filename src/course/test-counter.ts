/** A node:test reporter that writes only how many tests ran and how many failed. */

interface Event {
  readonly type: string;
  readonly data: { readonly details?: { readonly type?: string } };
}

export default async function* countTests(events: AsyncIterable<Event>): AsyncGenerator<string> {
  let [tests, failed] = [0, 0];
  for await (const { type, data } of events) {
    // A file or a suite is not a test.
    if (data.details?.type === "suite") continue;
    if (type === "test:pass" || type === "test:fail") tests++;
    if (type === "test:fail") failed++;
  }
  yield JSON.stringify({ tests, failed });
}
