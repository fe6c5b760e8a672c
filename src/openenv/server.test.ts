import { once } from "node:events";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Example } from "../core/records.ts";
import { openEnvironment } from "../environments/open.ts";
import type { RunningServer } from "../http/running-server.ts";
import { serveEnvironment } from "./server.ts";

let server: RunningServer;
/** What the first dev task shows, and the call that solves it. */
let shown: string;
let right: { readonly tool: string; readonly arguments: object };
beforeAll(async () => {
  const environment = await openEnvironment("tool-calls");
  const { tasks, reset, players } = environment.definition;
  const first = reset(tasks("dev")[0] as Example, TASK.seed);
  shown = first.observation[0]?.content ?? "";
  right = JSON.parse(players.gold?.(first.state) ?? "{}");
  server = await serveEnvironment({ environment, port: 0, maxSessions: 2, idleMs: 60_000 });
});
afterAll(() => server.close());

const TASK = { seed: 3, split: "dev", index: 0 };

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** A socket that answers one message at a time. */
async function connect(path = "/ws", headers: Record<string, string> = {}) {
  const socket = new WebSocket(server.url.replace("http", "ws") + path, { headers });
  await once(socket, "open");
  const ask = async (message: unknown) => {
    const answer = once(socket, "message");
    socket.send(typeof message === "string" ? message : JSON.stringify(message));
    return JSON.parse(String((await answer)[0]));
  };
  const close = async () => {
    const closed = once(socket, "close");
    socket.close();
    await closed;
  };
  return { socket, ask, close };
}

describe("over HTTP", () => {
  test("every call has an episode of its own", async () => {
    const { body } = await post("/reset", TASK);
    expect(body).toMatchObject({
      reward: 0,
      done: false,
      observation: { text: shown },
    });
    const step = await post("/step", { action: { text: "{}" } });
    expect(step.body).toMatchObject({
      done: true,
      metadata: { code: "invalid_json", truncated: false },
    });
    const state = JSON.parse(await (await fetch(`${server.url}/state`)).text());
    expect(state.step_count).toBe(0);
  });

  test.each([
    ["an action without text", "/step", { action: { say: "x" } }, 422],
    ["a negative seed", "/reset", { seed: -1 }, 422],
    ["an index that is too large", "/reset", { split: "dev", index: 99_999 }, 400],
    ["a body that is not JSON", "/reset", "{", 400],
    ["a split that does not exist", "/tool-calls/tasks", { split: "test" }, 404],
  ])("%s is refused with a sentence", async (_, path, body, status) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(status);
    expect(answer.body.detail).toMatch(/\w/);
  });

  test("a page of another origin is refused", async () => {
    expect((await post("/reset", {}, { origin: "http://evil.example" })).status).toBe(403);
  });

  test("tasks are listed by split and range, without their answers", async () => {
    expect(await (await fetch(`${server.url}/list_environments`)).json()).toEqual(["tool-calls"]);
    const { num_tasks } = (await post("/tool-calls/num_tasks", { split: "dev" })).body;
    const { tasks } = (await post("/tool-calls/task_range", { split: "dev", start: 1, stop: 3 }))
      .body;
    expect([num_tasks, tasks.length]).toEqual([70, 2]);
    expect(Object.keys(tasks[0]).sort()).toEqual(["id", "prompt"]);
  });

  test("tools by MCP: a session keeps its episode, a wrong request gets an error", async () => {
    const rpc = async (method: string, params: object = {}) =>
      (await post("/mcp", { jsonrpc: "2.0", id: 1, method, params })).body;
    expect(
      (await rpc("tools/list")).result.tools.map((tool: { name: string }) => tool.name),
    ).toContain("read_file");
    const { session_id } = (await rpc("openenv/session/create")).result;
    const call = { session_id, name: "set_timer", arguments: { minutes: 5 } };
    expect((await rpc("tools/call", call)).result.structuredContent).toMatchObject({ done: true });
    expect((await rpc("tools/call", call)).error.message).toMatch("the episode is over");
    expect((await rpc("openenv/session/close", { session_id })).result).toEqual({ closed: true });
    expect((await rpc("tools/call", { name: "reset" })).error.message).toMatch(
      "no tool named reset",
    );
    expect((await post("/mcp", {})).body).toMatchObject({
      jsonrpc: "2.0",
      error: { code: -32600 },
    });
  });
});

describe("over a socket", () => {
  test("an episode from reset to its end, and its state", async () => {
    const { ask, close } = await connect();
    expect((await ask({ type: "reset", data: TASK })).data.observation.text).toBe(shown);
    const { type, data } = await ask({ type: "step", data: { text: JSON.stringify(right) } });
    expect(type).toBe("observation");
    expect(data).toMatchObject({ reward: 1, done: true, metadata: { code: "solved" } });
    expect(data.observation.metadata).toEqual(data.metadata);
    expect((await ask({ type: "state" })).data).toMatchObject({ step_count: 1, seed: 3 });
    await close();
  });

  test("a call of a tool is an action too", async () => {
    const { ask, close } = await connect();
    await ask({ type: "reset", data: TASK });
    const listed = await ask({ type: "step", data: { type: "list_tools" } });
    expect(listed.data.observation.tools[0]).toHaveProperty("input_schema");
    const data = { type: "call_tool", tool_name: right.tool, arguments: right.arguments };
    expect((await ask({ type: "step", data })).data).toMatchObject({ reward: 1, done: true });
    await close();
  });

  test.each([
    ["what is not JSON", "{", "INVALID_JSON"],
    ["an unknown type", { type: "undo" }, "UNKNOWN_TYPE"],
    ["a wrong action", { type: "step", data: { say: 1 } }, "VALIDATION_ERROR"],
    ["a wrong index", { type: "reset", data: { split: "dev", index: 1e6 } }, "EXECUTION_ERROR"],
  ])("%s gets an error, and the socket stays open", async (_, message, code) => {
    const { ask, close } = await connect();
    expect((await ask(message)).data.code).toBe(code);
    expect((await ask({ type: "reset" })).type).toBe("observation");
    await close();
  });

  test("one session too many is told so and closed; a closed one makes room", async () => {
    const [one, two] = [await connect(), await connect()];
    const third = new WebSocket(`${server.url.replace("http", "ws")}/ws`);
    const [message] = await once(third, "message");
    expect(JSON.parse(String(message)).data).toMatchObject({
      code: "CAPACITY_REACHED",
      max_sessions: 2,
    });
    await once(third, "close");
    await one.close();
    const again = await connect();
    expect((await again.ask({ type: "reset" })).type).toBe("observation");
    await Promise.all([two.close(), again.close()]);
  });

  test("a page of another origin cannot open one", async () => {
    const refused = connect("/ws", { origin: "http://evil.example" });
    await expect(refused).rejects.toThrow("403");
  });

  test("an idle session is closed", async () => {
    const environment = await openEnvironment("boat-race");
    const short = await serveEnvironment({ environment, port: 0, idleMs: 50 });
    const socket = new WebSocket(`${short.url.replace("http", "ws")}/ws`);
    const [code] = await once(socket, "close");
    expect(code).toBe(1001);
    await short.close();
  });
});

test("survives upgrades with any target, of any origin, by clients that are gone", async () => {
  const { port, url } = server;
  const targets = ["//", "http://[", "*", "/ws//", "/\u007f", "/ws/../mcp?x#y", "/nothing"];
  for (const target of targets) {
    const lines = [
      `GET ${target} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      "Origin: http://evil.example",
    ];
    const more = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
    const client = net.connect(port, "127.0.0.1");
    client.on("error", () => {});
    client.write(
      `${[...lines, ...more, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="].join("\r\n")}\r\n\r\n`,
    );
    const [answer] = await once(client, "data");
    expect(String(answer)).toMatch(/^HTTP\/1.1 (400|403|404)/);
    client.resetAndDestroy();
  }
  expect((await fetch(`${url}/health`)).status).toBe(200);
});
