import { afterEach, describe, expect, test } from "vitest";
import { endAll, graded, json, serve } from "./grader-server.contract.ts";

afterEach(endAll);

describe("endpoint", () => {
  const at = (url: string, more = {}) => ({ type: "endpoint", name: "mine", url, ...more });
  const fast = { settings: { endpoint_seconds: 0.2 } };

  test("gets sample, item and a trace id, and gives its score", async () => {
    const { url, seen } = await serve((_, response) => json(response, { score: 0.8 }));
    const grader = at(url, { headers: { "x-token": "abcdefghijk" }, pass_threshold: 0.5 });
    expect(await graded(grader)).toMatchObject({ reward: 0.8, details: { passed: true } });
    expect(seen[0]?.body).toMatchObject({
      ...{ sample: { output_text: "fine" }, item: { id: "i1", answer: "42" } },
      trace_id: expect.stringMatching(/^trace_[0-9a-f]{16}$/),
    });
    expect(seen[0]?.headers["x-token"]).toBe("abcdefghijk");
  });

  test("that fails for a while is asked again", async () => {
    const { url, seen } = await serve((_, response, call) =>
      call < 3 ? json(response, { error: "busy" }, 503) : json(response, { score: 1 }),
    );
    expect(await graded(at(url))).toMatchObject({ reward: 1 });
    expect(seen).toHaveLength(3);
  });

  test.each([
    ["a text as score", { score: "1" }, /without a number as score/],
    ["no score", { reward: 1 }, /without a number as score/],
    ["a list", [1], /without a number as score/],
    ["more than 1 MB", { score: 1, more: "x".repeat(1_000_001) }, /more than 1 MB/],
  ])("that answers with %s is wrong at once", async (_, answer, message) => {
    const { url, seen } = await serve((_body, response) => json(response, answer));
    const given = await graded(at(url));
    expect(given).toMatchObject({ flag: "other_error", message: expect.stringMatching(message) });
    expect(seen).toHaveLength(1);
  });

  test("that is slow has three retries", async () => {
    const { url, seen } = await serve(() => {});
    const given = await graded(at(url), "fine", fast);
    expect(given).toMatchObject({
      message: expect.stringMatching(/did not answer, after 4 tries: .*too long/),
    });
    expect(seen).toHaveLength(4);
  }, 20_000);

  test("that redirects gets no second request with the headers", async () => {
    const { url: other, seen } = await serve((_, response) => json(response, { score: 1 }));
    const { url } = await serve((_, response) =>
      response.writeHead(302, { location: other }).end(),
    );
    expect(await graded(at(url))).toMatchObject({ message: expect.stringMatching(/status 302/) });
    expect(seen).toHaveLength(0);
  });

  test("that is gone is an error, and a sample above 1 MB is not sent", async () => {
    expect(await graded(at("http://127.0.0.1:1"), "fine", fast)).toMatchObject({
      message: expect.stringMatching(/did not answer, after 4 tries/),
    });
    const { url, seen } = await serve((_, response) => json(response, { score: 1 }));
    expect(await graded(at(url), "x".repeat(600_000))).toMatchObject({
      message: expect.stringMatching(/larger than 1 MB/),
    });
    expect(seen).toHaveLength(0);
  }, 20_000);
});
