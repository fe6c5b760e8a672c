/** Environments with tools, played by a model behind a real HTTP endpoint that calls them natively. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Turn } from "../src/core/environment.ts";
import type { Example } from "../src/core/records.ts";
import type { Trajectory } from "../src/core/trajectory.ts";
import { type AnyDefinition, EMBEDDED } from "../src/environments/catalogue.ts";
import { openPlayable } from "../src/environments/playable.ts";
import { type RolloutEpisodesOptions, rolloutEpisodes } from "../src/loops/rollout-episodes.ts";
import { type OpenAiOptions, openOpenAiPolicy } from "../src/providers/openai.ts";
import { type Asked, type Behaviour, chat, FakeEndpoint, KEY, type Reply } from "./endpoint.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-endpoint-episodes-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 64, stop: [], seed: 0 };

interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

const messagesOf = ({ body }: Asked) => body.messages as unknown as readonly Message[];

/** The text of an action, as the environment gets it. */
function actionOf({ content, tool_calls: calls }: Message): string {
  const [call] = calls ?? [];
  if (!call) return content ?? "";
  const { name, arguments: given } = call.function;
  return JSON.stringify({ tool: name, arguments: JSON.parse(given) });
}

/** A model that plays as the gold player does: it knows the environment, and reads the messages. */
function goldCall(definition: AnyDefinition, tasks: readonly Example[], asked: Asked) {
  const messages = messagesOf(asked);
  const task = tasks.find(({ prompt }) =>
    messages.some(({ role, content }) => role === "user" && content === `${prompt}\n`),
  ) as Example;
  let turn: Turn<unknown> = definition.reset(task, 0);
  for (const one of messages.filter(({ role }) => role === "assistant")) {
    turn = definition.step(turn.state, { text: actionOf(one) });
    const [shown] = turn.observation;
    // What the endpoint is told is what the environment answered, as the result of that call.
    const told = messages[messages.indexOf(one) + 1];
    expect(told).toEqual({
      ...{ role: "tool", content: shown?.content, tool_call_id: one.tool_calls?.[0]?.id },
    });
  }
  const text = (definition.players.gold as (state: unknown) => string)(turn.state);
  return JSON.parse(text) as { tool: string; arguments: object };
}

const calling = (name: string, given: string, more: object = {}): Reply => ({
  body: chat(null, {
    message: {
      ...{ role: "assistant", content: null },
      tool_calls: [{ id: "c1", type: "function", function: { name, arguments: given } }],
      ...more,
    },
    finish_reason: "tool_calls",
  }),
});

async function played(
  env: string,
  behave: Behaviour,
  {
    policy: given = {},
    ...options
  }: Partial<Omit<RolloutEpisodesOptions, "policy">> & {
    readonly policy?: Partial<OpenAiOptions>;
  } = {},
) {
  const endpoint = await FakeEndpoint.start(behave);
  const policy = await openOpenAiPolicy({
    ...{ model: "m", baseUrl: endpoint.url, apiKey: KEY, sampling: SAMPLING, backoffMs: 1 },
    ...given,
  });
  const outdir = path.join(root, String(count++));
  const environment = await openPlayable(env);
  const result = await rolloutEpisodes({
    ...{ policy, environment, split: "dev", tasks: 8, n: 1, outdir, ...options },
  });
  const trajectories = readFileSync(path.join(result.dir, "trajectories.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Trajectory => JSON.parse(line));
  return { ...result, endpoint, trajectories };
}

describe("native tool calls", () => {
  test.each(["tool-calls", "email-search"])("solve %s, turn by turn", async (env) => {
    const { definition } = EMBEDDED.get(env) as { definition: AnyDefinition };
    const tasks = definition.tasks("dev");
    const gold: Behaviour = (asked) => {
      const call = goldCall(definition, tasks, asked);
      return calling(call.tool, JSON.stringify(call.arguments));
    };
    const { endpoint, summary, trajectories, manifest } = await played(env, gold, { tasks: 12 });
    expect(summary.episodes).toMatchObject({ n: 12, n_solved: 12, n_failed: 0 });
    expect(summary.episodes?.turns.most).toBeGreaterThan(1);
    expect(endpoint.asked).toHaveLength(summary.n_answers);
    const [first] = endpoint.asked as [Asked];
    expect(first.body.tools).toEqual(
      manifest.tools?.map((tool) => ({ type: "function", function: tool })),
    );
    expect(first.body.parallel_tool_calls).toBe(false);
    const long = trajectories.find(({ metrics }) => Number(metrics.turns) > 1) as Trajectory;
    const [, call, result] = long.messages;
    expect(call).toMatchObject({ role: "assistant", tool_calls: [{ id: "c1" }] });
    expect(result).toMatchObject({ role: "tool", tool_call_id: "c1" });
    // The text that the environment read is the recorded one.
    let turn: Turn<unknown> = definition.reset(
      tasks.find(({ id }) => id === long.id) as Example,
      0,
    );
    for (const { role, content } of long.messages)
      if (role === "assistant") turn = definition.step(turn.state, { text: content });
    expect(turn.end?.code).toBe(long.code);
    expect(long.segments).toBeNull();
  });

  test("each turn of each episode has its own seed, whatever the concurrency", async () => {
    const { definition } = EMBEDDED.get("email-search") as { definition: AnyDefinition };
    const tasks = definition.tasks("dev");
    const gold: Behaviour = (asked) => {
      const call = goldCall(definition, tasks, asked);
      return calling(call.tool, JSON.stringify(call.arguments));
    };
    const one = await played("email-search", gold, { n: 2, policy: { concurrency: 1 } });
    const many = await played("email-search", gold, { n: 2, policy: { concurrency: 7 } });
    const seeds = ({ endpoint }: typeof one) => endpoint.asked.map(({ body }) => body.seed).sort();
    expect(new Set(seeds(one)).size).toBe(one.endpoint.asked.length);
    expect(seeds(many)).toEqual(seeds(one));
    expect(many.trajectories).toEqual(one.trajectories);
  });

  test("text is passed as it is: JSON is a call, anything else is not", async () => {
    const [task] = (EMBEDDED.get("tool-calls") as { definition: AnyDefinition }).definition.tasks(
      "dev",
    );
    const { wanted } = task as unknown as { wanted: object[] };
    const say =
      (text: string): Behaviour =>
      () => ({ body: chat(text) });
    const json = await played("tool-calls", say(JSON.stringify(wanted[0])), { tasks: 1 });
    const prose = await played("tool-calls", say("I will look it up."), { tasks: 1 });
    expect(json.trajectories[0]?.code).not.toBe("invalid_json");
    expect(prose.trajectories[0]).toMatchObject({ code: "invalid_json", reward: 0 });
    expect(prose.trajectories[0]?.messages[1]).toMatchObject({ content: "I will look it up." });
  });

  test("of several calls the first is made, and text beside it is kept in the log", async () => {
    const two = ["get_weather", "set_timer"].map((name, i) => ({
      ...{ id: `c${i}`, type: "function", function: { name, arguments: '{"city":"Oslo"}' } },
    }));
    const behave: Behaviour = () => calling("", "", { content: "Let me see.", tool_calls: two });
    const { trajectories } = await played("tool-calls", behave, { tasks: 1 });
    expect(trajectories[0]?.messages[1]).toMatchObject({
      content: '{"arguments":{"city":"Oslo"},"tool":"get_weather"}',
      tool_calls: [{ id: "c0", name: "get_weather", arguments: { city: "Oslo" } }],
    });
    expect(trajectories[0]?.logs).toEqual([
      "turn 1: text beside the call: Let me see.",
      "turn 1: 2 calls in one turn; only the first was made",
    ]);
  });

  test.each([
    ["no JSON", '{"city": Oslo}', "invalid_json"],
    ["no object", '["Oslo"]', "invalid_json"],
    ["missing", "{}", "bad_arguments"],
    ["nothing at all", "", "bad_arguments"],
  ])("arguments that are %s are the policy's mistake, not a failure", async (_, given, code) => {
    const behave: Behaviour = () => calling("get_weather", given);
    const { trajectories, summary } = await played("tool-calls", behave, { tasks: 1 });
    expect(trajectories[0]).toMatchObject({ code, reward: 0 });
    expect(summary.episodes?.n_failed).toBe(0);
  });

  test("a refusal is a turn of the policy, and is counted", async () => {
    const message = { role: "assistant", content: null, refusal: "I would rather not." };
    const behave: Behaviour = () => ({ body: chat(null, { message }) });
    const { trajectories, summary } = await played("tool-calls", behave, { tasks: 2 });
    expect(trajectories[0]).toMatchObject({
      ...{ code: "invalid_json", logs: ["turn 1: refusal: I would rather not."] },
    });
    expect(summary).toMatchObject({ n_refused: 2, n_empty: 2, n_answers: 2 });
  });

  test("many episodes at once raise no warning of the runtime", async () => {
    const warnings: string[] = [];
    const listen = ({ message }: Error) => warnings.push(message);
    process.on("warning", listen);
    const behave: Behaviour = () => ({ ...calling("none", "{}"), afterMs: 20 });
    const { endpoint } = await played("tool-calls", behave, {
      ...{ tasks: 40, policy: { concurrency: 40 } },
    });
    process.off("warning", listen);
    expect(endpoint.mostInFlight).toBeGreaterThan(10); // From 11 listeners on, Node warns.
    expect(warnings).toEqual([]);
  });

  test("a key that the endpoint echoes in a call is redacted", async () => {
    const behave: Behaviour = () => calling("get_weather", JSON.stringify({ city: KEY }));
    const { trajectories } = await played("tool-calls", behave, { tasks: 1 });
    expect(JSON.stringify(trajectories)).not.toContain(KEY);
    expect(JSON.stringify(trajectories)).toContain("[key removed]");
  });
});

describe("an endpoint that fails", () => {
  const isFirst = ({ prompt }: Asked, tasks: readonly Example[]) =>
    prompt === `${tasks[0]?.prompt}\n`;
  const tasks = (EMBEDDED.get("tool-calls") as { definition: AnyDefinition }).definition.tasks(
    "dev",
  );

  test("for one episode after all attempts is counted, and is no zero", async () => {
    const behave: Behaviour = (asked) =>
      isFirst(asked, tasks) ? { status: 503 } : calling("none", "{}");
    const { summary, trajectories, endpoint } = await played("tool-calls", behave, {
      policy: { attempts: 3 },
    });
    expect(summary.episodes).toMatchObject({ n: 7, failures: { endpoint_error: 1 } });
    expect(trajectories.map(({ id }) => id)).not.toContain(tasks[0]?.id);
    expect(endpoint.asked.filter((asked) => isFirst(asked, tasks))).toHaveLength(3);
  });

  test("for good ends the rollout at once, whatever failures are allowed", async () => {
    let asked = 0;
    const behave: Behaviour = () => {
      asked++;
      return { status: 401, body: { error: { message: "wrong key" } } };
    };
    const playing = played("tool-calls", behave, { maxFailures: 100, policy: { concurrency: 2 } });
    await expect(playing).rejects.toMatchObject({
      ...{ kind: "usage", message: expect.stringContaining("401") },
    });
    expect(asked).toBeLessThanOrEqual(2);
  });

  test("that rejects parallel_tool_calls is asked without it", async () => {
    const notices: string[] = [];
    const behave: Behaviour = ({ body }) =>
      "parallel_tool_calls" in body
        ? { status: 400, body: { error: { message: "x", param: "parallel_tool_calls" } } }
        : calling("none", "{}");
    const { summary } = await played("tool-calls", behave, {
      policy: { concurrency: 1, onNotice: (text) => notices.push(text) },
    });
    expect(summary.episodes?.n).toBe(8);
    expect(notices).toEqual([expect.stringContaining("parallel_tool_calls")]);
  });
});

test("an environment without tools offers none, and --system comes first in every turn", async () => {
  const seen = new Set<string>();
  const behave: Behaviour = (asked) => {
    expect(asked.body).not.toHaveProperty("tools");
    const [system, ...rest] = messagesOf(asked);
    expect(system).toEqual({ role: "system", content: "Slide." });
    // Only the last board: the game is memoryless.
    expect(rest).toHaveLength(1);
    seen.add(rest[0]?.content ?? "");
    return { body: chat(["<move>left</move>", "<move>up</move>"][seen.size % 2] ?? "") };
  };
  const { trajectories } = await played("twenty48", behave, {
    ...{ tasks: 2, policy: { system: "Slide.", concurrency: 1 } },
  });
  expect(trajectories[0]?.messages[0]).toEqual({ role: "system", content: "Slide." });
  expect(seen.size).toBeGreaterThan(4);
});
