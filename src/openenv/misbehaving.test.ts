import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import type { PlayableEnvironment, Turn } from "../core/environment.ts";
import type { Example } from "../core/records.ts";
import { rngAt } from "../core/rng.ts";
import { readAddress } from "./address.ts";
import { openPlayable } from "./open-playable.ts";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const TEXT = { title: "EchoAction", type: "object", required: ["message"] };
const ECHO = { ...TEXT, properties: { message: { type: "string" }, metadata: { type: "object" } } };
const START = { observation: { said: "begin" }, reward: null, done: false };

interface Behaviour {
  readonly action?: object;
  /** Answers a step; a string is sent as it is, undefined sends nothing. */
  readonly step?: (data: unknown, socket: WebSocket) => unknown;
  readonly reset?: (data: { seed?: number }) => unknown;
  readonly routes?: Readonly<Record<string, unknown>>;
  readonly maxSessions?: number;
}

/** A server of OpenEnv's routes that does as it is told. */
async function server({ action = ECHO, step, reset, routes = {}, maxSessions = 9 }: Behaviour) {
  const answers: Record<string, unknown> = {
    "/metadata": { name: "echo", description: "Says it again.", version: "3" },
    "/schema": { action, observation: {}, state: {} },
    ...routes,
  };
  const http = createServer((request, response) => {
    const found = answers[request.url ?? ""];
    response.statusCode = found === undefined ? 404 : 200;
    response.end(typeof found === "string" ? found : JSON.stringify(found ?? {}));
  });
  const sockets = new WebSocketServer({ server: http, path: "/ws" });
  sockets.on("connection", (socket) => {
    const send = (value: unknown) => {
      if (value !== undefined)
        socket.send(typeof value === "string" ? value : JSON.stringify(value));
    };
    if (sockets.clients.size > maxSessions) {
      send({ type: "error", data: { message: "full", code: "CAPACITY_REACHED" } });
      socket.close();
      return;
    }
    socket.on("message", (text) => {
      const { type, data } = JSON.parse(String(text));
      if (type === "state") send({ type: "state", data: { step_count: 0 } });
      if (type === "reset") send({ type: "observation", data: reset?.(data) ?? START });
      if (type === "step") send(step?.(data, socket));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    for (const client of sockets.clients) client.terminate();
    http.close();
    http.closeAllConnections();
  });
  return `openenv:http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function opened(given: string, warnings: string[] = []): Promise<PlayableEnvironment> {
  const playable = await openPlayable(given, (sentence) => warnings.push(sentence));
  closing.push(() => playable.close());
  return playable;
}

/** The turn after one action of the first task. */
async function after(given: string, text: string, warnings: string[] = []): Promise<Turn<unknown>> {
  const { environment, tasks } = await opened(given, warnings);
  const { state } = await environment.reset((await tasks("train"))[0] as Example, rngAt(1));
  return (await environment.step([{ state, action: { text } }]))[0] as Turn<unknown>;
}

const observation = (data: object) => ({ type: "observation", data });
const echo = (data: unknown) =>
  observation({
    observation: { said: (data as { message: string }).message },
    reward: 0.5,
    done: true,
  });

test("an honest server: text in, text out, reward and end", async () => {
  const turn = await after(await server({ step: echo }), "hello {");
  expect(turn).toMatchObject({
    observation: [{ role: "user", content: "hello {\n" }],
    reward: 0.5,
    end: { code: "done", terminated: true },
  });
});

const TROUBLE: [string, Behaviour["step"], RegExp][] = [
  ["closes the socket", (_, socket) => socket.close(), /closed the connection before it answered/],
  ["breaks the socket", (_, socket) => socket.terminate(), /closed the connection|lost the conn/],
  ["hangs", () => undefined, /does not answer within 1 s/],
  ["sends no JSON", () => "{", /no JSON message/],
  ["sends NaN", () => '{"type":"observation","data":{"reward":NaN}}', /no JSON message/],
  [
    "sends a reward of infinity",
    () => '{"type":"observation","data":{"observation":{},"reward":1e999,"done":true}}',
    /no valid turn: reward/,
  ],
  ["sends a text as reward", () => observation({ ...START, reward: "1" }), /no valid turn: reward/],
  ["sends no done", () => observation({ observation: {}, reward: 1 }), /no valid turn: done/],
  ["sends no data", () => ({ type: "observation" }), /answers step with no data/],
  [
    "fails",
    () => ({ type: "error", data: { message: "division by zero", code: "EXECUTION_ERROR" } }),
    /EXECUTION_ERROR: division by zero/,
  ],
  [
    "does not read our JSON",
    () => ({ type: "error", data: { message: "?", code: "INVALID_JSON" } }),
    /INVALID_JSON/,
  ],
  [
    "sends an observation of 200 MB",
    (_, socket) => socket.send(Buffer.alloc(200e6, "x")),
    /a message of more than 16 MiB/,
  ],
];

test.each(TROUBLE)("a server that %s: no reward, and a sentence", async (_, step, sentence) => {
  const limit = sentence.source.includes("within 1 s") ? 1 : 30;
  const turn = await after(`${await server({ step: step as never })}#seconds=${limit}`, "hello");
  expect(turn.reward).toBeNull();
  expect(turn.end).toMatchObject({ code: "environment_error", terminated: false });
  expect(turn.end?.details.message).toMatch(sentence);
});

test("after a lost session the next episode has a new one", async () => {
  let calls = 0;
  const url = await server({
    step: (data, socket) => (calls++ === 0 ? socket.close() : echo(data)),
  });
  const { environment, tasks } = await opened(url);
  const [task] = await tasks("train");
  const codes: (string | undefined)[] = [];
  for (let i = 0; i < 2; i++) {
    const { state } = await environment.reset(task as Example, rngAt(i));
    const [turn] = await environment.step([{ state, action: { text: "hello" } }]);
    codes.push(turn?.end?.code);
  }
  expect(codes).toEqual(["environment_error", "done"]);
});

test("a reward that the server does not give at the end is none, before the end it is nothing", async () => {
  const none = { step: () => observation({ observation: {}, reward: null, done: true }) };
  expect((await after(await server(none), "a")).reward).toBeNull();
  const later = { step: () => observation({ observation: {}, reward: null, done: false }) };
  expect((await after(await server(later), "a")).reward).toBe(0);
});

test("code, truncation and metrics come from the metadata", async () => {
  const metadata = { code: "fell", truncated: true, metrics: { steps: 3 } };
  const step = () =>
    observation({ observation: { a: 1, b: "x" }, reward: true, done: true, metadata });
  expect(await after(await server({ step }), "a")).toMatchObject({
    observation: [{ content: '{"a":1,"b":"x"}\n' }],
    reward: 1,
    metrics: { steps: 3 },
    end: { code: "fell", terminated: false },
  });
});

const PAIR = { title: "Pair", required: ["row", "column"], properties: {} };

test("an answer that is no action has a code, and a reward only where the address gives one", async () => {
  const url = await server({ action: PAIR, step: () => observation({ ...START, done: true }) });
  const wrong = await after(url, "row 1");
  expect(wrong).toMatchObject({ reward: null, end: { code: "invalid_action", terminated: false } });
  expect(wrong.end?.details.message).toMatch("no JSON object");
  expect((await after(`${url}#invalid=-1`, "[1]")).reward).toBe(-1);
  expect((await after(url, '{"row":1,"column":2}')).end?.code).toBe("done");
});

test("an action that the server refuses is the policy's mistake too", async () => {
  const step = () => ({
    type: "error",
    data: { message: "row: too large", code: "VALIDATION_ERROR" },
  });
  const turn = await after(`${await server({ action: PAIR, step })}#invalid=-1`, "{}");
  expect([turn.end?.code, turn.reward]).toEqual(["invalid_action", -1]);
  expect(turn.end?.details.message).toMatch("row: too large");
});

test("a number is sent as a number", async () => {
  const got: unknown[] = [];
  const action = { required: ["guess"], properties: { guess: { type: "integer" } } };
  const step = (data: unknown) => {
    got.push(data);
    return observation({ ...START, done: true });
  };
  const url = await server({ action, step });
  await after(url, " 42 ");
  expect((await after(url, "a number")).end?.code).toBe("invalid_action");
  expect(got).toEqual([{ guess: 42 }]);
});

test("tools are offered, called by JSON, and their errors counted", async () => {
  const tool = { name: "look", description: "Looks.", inputSchema: { type: "object" } };
  const routes = { "/mcp": { jsonrpc: "2.0", id: 1, result: { tools: [tool] } } };
  const step = (data: unknown) => {
    const { arguments: given } = data as { arguments: { at?: string } };
    const seen =
      given.at === "door" ? { result: { content: [{ type: "text", text: "shut" }] } } : {};
    const error = given.at ? null : { error_type: "invalid_args", message: "at is missing" };
    return observation({
      observation: { tool_name: "look", ...seen, error },
      reward: 0,
      done: false,
    });
  };
  const url = await server({ action: { title: "CallToolAction" }, routes, step });
  expect((await opened(url)).tools).toEqual([
    { name: "look", description: "Looks.", parameters: { type: "object" } },
  ]);
  const right = await after(url, '{"tool":"look","arguments":{"at":"door"}}');
  expect(right).toMatchObject({ observation: [{ role: "tool", content: "shut\n" }], metrics: {} });
  const wrong = await after(url, '{"tool":"look","arguments":{}}');
  expect(wrong).toMatchObject({
    observation: [{ content: "error: at is missing\n" }],
    metrics: { tool_errors: 1 },
  });
  expect((await after(url, "look at the door")).end?.code).toBe("invalid_action");
});

test("a server that drops seeds is found out at once, an honest one is not", async () => {
  let resets = 0;
  const dropped = await server({ reset: () => ({ ...START, observation: { tile: resets++ } }) });
  const warnings: string[] = [];
  const { environment } = await opened(dropped, warnings);
  expect(environment.identity.remote).toMatchObject({ seeds: "dropped", reproducible: false });
  expect(warnings.join("\n")).toMatch("does not honour seeds");
  const honest = await server({ reset: ({ seed }) => ({ ...START, observation: { tile: seed } }) });
  const fine: string[] = [];
  const other = await opened(`${honest}#solved=1`, fine);
  expect(other.environment.identity.remote).toMatchObject({ seeds: "honoured" });
  expect(fine).toEqual([]);
});

test("what is solved: a least reward, codes, or a warning that nothing is", async () => {
  const url = await server({ step: echo });
  const warnings: string[] = [];
  expect((await opened(url, warnings)).solved).toEqual([]);
  expect(warnings.join()).toMatch("no episode counts as passed");
  expect((await after(`${url}#solved=0.5`, "a")).end?.code).toBe("solved");
  expect((await after(`${url}#solved=0.6`, "a")).end?.code).toBe("done");
  expect((await opened(`${url}#solved=done,won`)).solved).toEqual(["done", "won"]);
});

test("an episode without end is cut short", async () => {
  const url = `${await server({ step: () => observation(START) })}#turns=2`;
  const { environment, tasks } = await opened(url);
  let turn = await environment.reset((await tasks("dev"))[0] as Example, rngAt(1));
  const go = async () =>
    (await environment.step([{ state: turn.state, action: { text: "a" } }]))[0] as Turn<unknown>;
  turn = await go();
  expect(turn.end).toBeUndefined();
  expect((await go()).end).toMatchObject({ code: "out_of_turns", terminated: false });
});

test("without task routes a task is a seed, and no seed is in two splits", async () => {
  const asked: unknown[] = [];
  const reset = (data: { seed?: number }) => {
    asked.push(data);
    return START;
  };
  const { environment, tasks } = await opened(`${await server({ reset })}#tasks=3`);
  const all = [...(await tasks("train")), ...(await tasks("dev")), ...(await tasks("holdout"))];
  expect(new Set(all.map((task) => task.seed)).size).toBe(9);
  await environment.reset(all[4] as Example, rngAt(1));
  expect(asked.at(-1)).toEqual({ seed: all[4]?.seed });
});

test("splits of other names are found by their type; one that is missing is named", async () => {
  const tasks = { num_tasks: 2 };
  const routes = {
    "/list_environments": ["echo"],
    "/echo/splits": [
      { name: "main", type: "train" },
      { name: "test", type: "test" },
    ],
    "/echo/num_tasks": tasks,
    "/echo/task_range": { tasks: [{ id: 7, prompt: "a" }, { question: "b" }] },
  };
  const playable = await opened(await server({ routes }));
  expect(await playable.tasks("train")).toEqual([
    { id: "7", prompt: "a", split: "main", index: 0 },
    { id: "main-1", prompt: '{"question":"b"}', split: "main", index: 1 },
  ]);
  expect((await playable.tasks("holdout"))[0]?.split).toBe("test");
  await expect(playable.tasks("dev")).rejects.toThrow("no split for dev: it has main, test");
});

test.each([
  ["no server", "openenv:http://127.0.0.1:9", /cannot be reached at \/(metadata|schema)/],
  ["no address", "openenv:somewhere", /no http or https address/],
  ["another protocol", "openenv:ftp://127.0.0.1", /no http or https address/],
  ["a password", "openenv:http://me:secret@127.0.0.1:9", /has a user name or password/],
  ["an unknown setting", "openenv:http://127.0.0.1:9#speed=1", /no setting "speed"/],
  ["a wrong setting", "openenv:http://127.0.0.1:9#turns=0", /turns=0 is not a whole number/],
])("%s: a sentence", async (_, given, sentence) => {
  const failure = await openPlayable(given).catch((error: Error) => error);
  expect(String(failure)).toMatch(sentence);
  expect(String(failure)).not.toMatch("secret");
});

test("a page that is no OpenEnv server, and one that answers no JSON, are named", async () => {
  await expect(opened(await server({ routes: { "/schema": undefined } }))).rejects.toThrow(
    "has no /schema",
  );
  await expect(opened(await server({ routes: { "/metadata": "<html>" } }))).rejects.toThrow(
    "with no JSON",
  );
});

test("a server that is full of others is waited for, then named", async () => {
  const failure = opened(`${await server({ maxSessions: 0 })}#seconds=1`);
  await expect(failure).rejects.toThrow("CAPACITY_REACHED");
});

test("plain http to another machine is warned of; https, or this machine, is not", () => {
  expect(readAddress("openenv:http://host.example:9").warning).toMatch("whoever is on the way");
  expect(readAddress("openenv:https://host.example").warning).toBeUndefined();
  expect(readAddress("openenv:http://localhost:9/").warning).toBeUndefined();
});
