/** A scorer as an endpoint grader, over real HTTP: what it answers, and whom it refuses. */

import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { CheckedScore, GuardedScorer, ScoreRequest } from "../core/score.ts";
import { startHttpServer } from "../http/server.ts";
import { openScorer } from "../scorers/open.ts";
import { type ScorerServer, type ScorerServerOptions, startScorerServer } from "./scorer-server.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function serve(
  scorer: GuardedScorer,
  options: Partial<ScorerServerOptions> = {},
): Promise<ScorerServer> {
  open.push(scorer);
  const server = await startScorerServer({ scorer, port: 0, rateLimit: 1000, ...options });
  open.push(server);
  return server;
}

const BODY = {
  ...{ sample: { output_text: "Final: 4" }, item: { expected_answer: 4 }, trace_id: "trace_1" },
};

async function post({ endpoint }: ScorerServer, body: unknown, headers = {}) {
  const response = await fetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const builtIn = () => openScorer("math_final_line");

/** A scorer with an answer of the caller's, behind the same guard as any other. */
const answering = (score: (completion: string) => unknown) =>
  openScorer(
    {
      ...{ name: "own", version: "1", spec: "a scorer of the test", deterministic: false },
      score: (_: object, completion: string) =>
        score(completion) as { reward: number; code: string; details: object } & never,
    },
    { independent: true, timeoutMs: 10_000 },
  );

describe("scores", () => {
  test("a right and a wrong answer, with our code and the trace id", async () => {
    const server = await serve(await builtIn());
    const right = await post(server, BODY);
    expect(right).toMatchObject({
      ...{ status: 200, body: { score: 1, code: "ok", trace_id: "trace_1" } },
    });
    const wrong = await post(server, { ...BODY, sample: { output_text: "Final: 5" } });
    expect(wrong).toMatchObject({ status: 200, body: { score: 0, code: "wrong_answer" } });
  });

  test("nothing but the score where that is asked for", async () => {
    const server = await serve(await builtIn(), { scoreOnly: true });
    expect((await post(server, BODY)).body).toEqual({ score: 1 });
  });

  test("GET says which scorer it is", async () => {
    const server = await serve(await builtIn());
    const { scorer } = (await (await fetch(server.endpoint)).json()) as { scorer: object };
    expect(scorer).toMatchObject({ name: "math_final_line" });
  });

  test("the text of a chat answer where output_text is absent", async () => {
    const server = await serve(await builtIn());
    const choices = [{ message: { role: "assistant", content: "Final: 4" } }];
    expect((await post(server, { ...BODY, sample: { choices } })).body).toMatchObject({ score: 1 });
  });

  test("two clients at once: neither waits for the other", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ok = (reward: number) => ({ reward, code: "scored", details: {} });
    const scorer = await answering(async (completion) => {
      if (completion === "slow") await held;
      return ok(completion === "slow" ? 0.25 : 0.75);
    });
    const server = await serve(scorer);
    const slow = post(server, { ...BODY, sample: { output_text: "slow" } });
    await sleep(20);
    const fast = await post(server, { ...BODY, sample: { output_text: "fast" } });
    expect(fast.body).toMatchObject({ score: 0.75 });
    release();
    expect((await slow).body).toMatchObject({ score: 0.25 });
  });
});

describe("no score is never a 0", () => {
  test("a scorer that throws, or returns no number, is a 500 with its sentence", async () => {
    const thrower = await serve(
      await answering(() => {
        throw new Error("the table is gone");
      }),
    );
    const failed = await post(thrower, BODY);
    expect(failed.status).toBe(500);
    expect(failed.body).not.toHaveProperty("score");
    expect(failed.body).toMatchObject({
      error: { code: "scorer_error", message: expect.stringContaining("the table is gone") },
    });
    const nan = await serve(
      await answering(() => ({ reward: Number.NaN, code: "x", details: {} })),
    );
    expect(await post(nan, BODY)).toMatchObject({ status: 500, body: { error: {} } });
  });

  test("an item that the scorer cannot read is the client's mistake", async () => {
    const server = await serve(await builtIn());
    const { status, body } = await post(server, { ...BODY, item: {} });
    expect({ status, body }).toMatchObject({
      ...{ status: 422, body: { error: { code: "invalid_example", param: "item" } } },
    });
  });

  test("tool calls alone: a scorer of text refuses them, and a grader reads them", async () => {
    const output_tools = [{ type: "function", function: { name: "clock", arguments: "{}" } }];
    const sample = { output_text: "", output_tools };
    const server = await serve(await builtIn());
    expect(await post(server, { ...BODY, sample })).toMatchObject({ status: 400 });
    const seen: ScoreRequest[] = [];
    const grader: GuardedScorer = {
      ...(await builtIn()),
      scoreBatch: async (batch): Promise<CheckedScore[]> => {
        seen.push(...batch);
        return [{ reward: 1, code: "match", details: {} }];
      },
    };
    await post(await serve(grader, { wholeSample: true }), { ...BODY, sample });
    expect(seen).toMatchObject([{ completion: { output_text: "", output_tools } }]);
  });
});

describe("who is refused", () => {
  const TOKEN = "0123456789abcdef";

  test("a wrong token and none, before the body is read", async () => {
    const server = await serve(await builtIn(), { token: TOKEN });
    const none = await post(server, "{");
    expect(none).toMatchObject({ status: 401, body: { error: { code: "invalid_token" } } });
    expect(none.headers.get("www-authenticate")).toBe("Bearer");
    for (const authorization of [`Bearer ${TOKEN}x`, `Basic ${TOKEN}`, "Bearer", TOKEN])
      expect(await post(server, BODY, { authorization })).toMatchObject({ status: 401 });
    expect((await fetch(server.endpoint)).status).toBe(401);
    const right = await post(server, BODY, { authorization: `Bearer ${TOKEN}` });
    expect(right).toMatchObject({ status: 200, body: { score: 1 } });
  });

  test("another address than loopback without a token", async () => {
    await expect(
      startScorerServer({ scorer: await builtIn(), port: 0, rateLimit: 1, host: "0.0.0.0" }),
    ).rejects.toThrow("only with a token");
  });

  test("too large, malformed and incomplete bodies", async () => {
    const server = await serve(await builtIn());
    const large = { ...BODY, sample: { output_text: "x".repeat(1024 * 1024) } };
    expect(await post(server, large)).toMatchObject({ status: 413 });
    expect(await post(server, '{"sample":')).toMatchObject({ status: 400 });
    expect(await post(server, BODY, { "content-type": "text/plain" })).toMatchObject({
      status: 415,
    });
    const incomplete = [[], 1, {}, { item: {} }, { sample: {}, item: {} }, { ...BODY, item: [] }];
    for (const body of [...incomplete, { ...BODY, trace_id: 7 }])
      expect(await post(server, body)).toMatchObject({ status: 400, body: { error: {} } });
    const deep = `{"sample":{"output_text":"a"},"item":{"a":${"[".repeat(1e5)}${"]".repeat(1e5)}}}`;
    expect(await post(server, deep)).toMatchObject({ status: 400 });
    expect(await post(server, BODY)).toMatchObject({ status: 200 });
  });

  test("too fast: 429 with the time to wait, and a later request is taken", async () => {
    const server = await serve(await builtIn(), { rateLimit: 2 });
    const all = await Promise.all([1, 2, 3, 4].map(() => post(server, BODY)));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
    const refused = all.find(({ status }) => status === 429);
    expect(refused?.headers.get("retry-after")).toBe("1");
    await sleep(1000);
    expect(await post(server, BODY)).toMatchObject({ status: 200 });
  });

  test("a web page of another origin, and another Host", async () => {
    const server = await serve(await builtIn());
    const origin = "http://evil.example";
    expect(await post(server, BODY, { origin })).toMatchObject({ status: 403 });
    expect(await raw(server.port, "Host: evil.example")).toContain(" 403 ");
    expect(await raw(server.port, "Host: 127.0.0.1")).toContain(" 200 ");
  });

  test("with a token under any name: another origin is still refused", async () => {
    const server = await startHttpServer({
      ...{ port: 0, host: "0.0.0.0", onBug: () => {}, errorBody: ({ message }) => ({ message }) },
      addRoutes: (app) => app.get("/score", (c) => c.text("here")),
    });
    open.push(server);
    expect(await raw(server.port, "Host: grader.example")).toContain(" 200 ");
    const own = ["Host: grader.example", "Origin: https://grader.example"];
    expect(await raw(server.port, ...own)).toContain(" 200 ");
    const other = ["Host: grader.example", "Origin: https://evil.example"];
    expect(await raw(server.port, ...other)).toContain(" 403 ");
  });
});

/** The raw answer to GET /score; fetch sets Host by itself. */
function raw(port: number, ...headers: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (part) => {
      text += part;
    });
    socket.on("error", reject).on("close", () => resolve(text));
    socket.write(["GET /score HTTP/1.1", ...headers, "Connection: close", "", ""].join("\r\n"));
  });
}
