/** A small server over a real socket: who may call it, what it reads, and how it stops. */

import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { abortOnDisconnect, addRoute } from "./app.ts";
import { readJson } from "./body.ts";
import { HttpError } from "./errors.ts";
import { Queue } from "./queue.ts";
import type { RunningServer } from "./running-server.ts";
import { type HttpServerOptions, startHttpServer } from "./server.ts";
import { eventStream } from "./sse.ts";

const bugs: unknown[] = [];
const queue = new Queue();
const OPTIONS: HttpServerOptions = {
  port: 0,
  errorBody: ({ status, message, details }) => ({ status, message, ...details }),
  onBug: (error) => bugs.push(error),
  stop: (graceMs) => queue.stop(graceMs / 10),
  addRoutes(app) {
    addRoute(app, "/echo", {
      GET: (c) => c.text("here"),
      POST: async (c) => c.json((await readJson(c.req.raw, { maxBytes: 100 })) as object),
    });
    addRoute(app, "/bug", {
      GET: () => {
        throw new Error("secret /path");
      },
    });
    addRoute(app, "/events", {
      GET: () =>
        eventStream(
          async (send) => {
            send({ a: 1 });
            await sleep(1);
            throw new HttpError(500, "late");
          },
          (error) => `failed: ${(error as Error).message}`,
        ),
    });
    addRoute(app, "/wait", {
      GET: (c) => queue.add(untilAborted, abortOnDisconnect(c)),
    });
  },
};

/** Told when work begins. */
let onBegin = () => {};
const begun = () =>
  new Promise<void>((resolve) => {
    onBegin = resolve;
  });

/** Work that ends only when it is aborted. */
function untilAborted(signal: AbortSignal): Promise<Response> {
  return new Promise((_, reject) => {
    onBegin();
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason));
  });
}

let server: RunningServer;
beforeAll(async () => {
  server = await startHttpServer(OPTIONS);
});
afterAll(() => server.close());

const ask = (route: string, init?: RequestInit) => fetch(`${server.url}${route}`, init);
const post = (body: string, type = "application/json") =>
  ask("/echo", { method: "POST", headers: { "content-type": type }, body });

/** The raw answer to a request; fetch sets Host and Origin by itself. */
function raw(port: number, ...headers: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (part) => {
      text += part;
    });
    socket.on("error", reject).on("close", () => resolve(text));
    socket.write(["GET /echo HTTP/1.1", ...headers, "Connection: close", "", ""].join("\r\n"));
  });
}

describe("only for this machine", () => {
  test("every other name is refused", async () => {
    const { port } = server;
    for (const host of [`127.0.0.1:${port}`, "localhost", "LOCALHOST:80", `[::1]:${port}`]) {
      expect(await raw(port, `Host: ${host}`), host).toMatch(/^HTTP\/1.1 200 /);
    }
    const foreign = ["evil.com", `evil.com:${port}`, "127.0.0.1.evil.com", "localhost.evil.com"];
    for (const host of [...foreign, "127.0.0.2", "0.0.0.0", "[::2]"]) {
      const answer = await raw(port, `Host: ${host}`);
      expect(answer, host).toMatch(/^HTTP\/1.1 403 /);
      expect(answer).toContain('"code":"host_not_allowed"');
    }
    for (const host of ["evil@127.0.0.1", "a b", ""]) {
      expect(await raw(port, `Host: ${host}`), host).toMatch(/^HTTP\/1.1 40[03] /);
    }
  });

  test("every other origin is refused, and none is invited", async () => {
    const { port } = server;
    const ask = (origin: string) => raw(port, `Host: localhost:${port}`, `Origin: ${origin}`);
    for (const name of ["127.0.0.1", "localhost", "[::1]"]) {
      const answer = await ask(`http://${name}:${port}`);
      expect(answer).toMatch(/^HTTP\/1.1 200 /);
      expect(answer).not.toMatch(/access-control/i);
    }
    const foreign = ["http://evil.com", "null", `https://localhost:${port}`, "http://localhost"];
    for (const origin of [...foreign, `http://localhost:${port + 1}`]) {
      const answer = await ask(origin);
      expect(answer, origin).toMatch(/^HTTP\/1.1 403 /);
      expect(answer).toContain('"code":"origin_not_allowed"');
      expect(answer).not.toMatch(/access-control/i);
    }
  });

  test("nothing listens on other addresses", async () => {
    const refused = new Promise((resolve) => {
      connect(server.port, "127.0.0.2").on("error", resolve).on("connect", resolve);
    });
    expect(await refused).toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("requests", () => {
  test("a path takes its methods and refuses others; another path is unknown", async () => {
    expect(await (await ask("/echo")).text()).toBe("here");
    const wrong = await ask("/echo", { method: "DELETE" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, POST"]);
    const unknown = await ask("/nothing");
    expect(await unknown.json()).toMatchObject({ status: 404, code: "unknown_url" });
  });

  test("a body is JSON, UTF-8 and within the limit", async () => {
    expect(await (await post('{"a":null}')).json()).toEqual({ a: null });
    expect(await (await post("{")).json()).toMatchObject({ status: 400, message: /not JSON/ });
    expect(await (await post("{}", "text/plain")).json()).toMatchObject({ status: 415 });
    const large = await post(JSON.stringify("x".repeat(100)));
    expect(await large.json()).toMatchObject({ status: 413, message: /larger than 100 bytes/ });
    expect(large.headers.get("connection")).toBe("close");
  });

  test("an internal error is reported to onBug and not to the client", async () => {
    const answer = await (await ask("/bug")).text();
    expect(answer).toContain('"status":500');
    expect(answer).not.toContain("secret");
    expect(bugs.splice(0)).toMatchObject([{ message: "secret /path" }]);
  });

  test("an event stream that fails ends with an event about it", async () => {
    const answer = await ask("/events");
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(await answer.text()).toBe('data: {"a":1}\n\ndata: failed: late\n\n');
  });
});

test("a port that is in use is a usage error with a next step", async () => {
  await expect(startHttpServer({ ...OPTIONS, port: server.port })).rejects.toMatchObject({
    message: `port ${server.port} is in use already`,
    hint: expect.stringContaining("--port 0"),
  });
});

test("a disconnected client aborts its work; close aborts the rest and refuses new work", async () => {
  const left = new AbortController();
  const first = begun();
  const gone = ask("/wait", { signal: left.signal });
  await first;
  left.abort();
  await expect(gone).rejects.toThrow(/abort/i);
  await queue.idle();
  const second = begun();
  const waiting = ask("/wait");
  await second;
  await server.close();
  expect(await (await waiting).json()).toMatchObject({ status: 503, code: "server_stopping" });
  expect(() => queue.add(untilAborted)).toThrow(/stopping/);
  expect(bugs).toEqual([]);
});
