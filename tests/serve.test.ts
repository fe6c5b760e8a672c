/** `serve` as OpenAI's own client meets it, and as strangers do. */

import { cpSync, mkdirSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import OpenAI, { type APIError } from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { input, logSoftmax, pick, Session, type Tensor } from "../src/graph/index.ts";
import { SPECIAL_TOKENS } from "../src/policy/character-files.ts";
import { CharacterTokenizer } from "../src/policy/characters.ts";
import { type Checkpoint, saveCheckpoint } from "../src/policy/checkpoint.ts";
import { Decoding } from "../src/policy/decoding.ts";
import { type EmbeddedPolicy, openEmbeddedPolicy } from "../src/policy/embedded.ts";
import { initialise, SIZES } from "../src/policy/initialise.ts";
import { logitsOf } from "../src/policy/transformer.ts";
import { type PolicyServer, startServer } from "../src/serve/index.ts";
import { EXIT, expectError, ROOT, until, Workspace } from "./cli.ts";

const workspace = new Workspace();
const LLAMA = path.join(ROOT, "tests/fixtures/hf-tiny/llama");
const TEMPLATE =
  "{% for m in messages %}{% if m.role == 'assistant' and loop.first %}{{ raise_exception('a user must begin') }}{% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

class Room {
  readonly policy: EmbeddedPolicy;
  readonly server: PolicyServer;
  readonly client: OpenAI;
  readonly bugs: unknown[];

  private constructor(policy: EmbeddedPolicy, server: PolicyServer, bugs: unknown[]) {
    this.policy = policy;
    this.server = server;
    this.bugs = bugs;
    this.client = new OpenAI({ baseURL: server.baseUrl, apiKey: "none", maxRetries: 0 });
  }

  static async open(folder: string): Promise<Room> {
    const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 1, stop: [], seed: 0 };
    const policy = await openEmbeddedPolicy(folder, { sampling, batch: 8 });
    const bugs: unknown[] = [];
    const onBug = (error: unknown) => bugs.push(error);
    const server = await startServer({ policy, name: "tiny", port: 0, onBug });
    return new Room(policy, server, bugs);
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.policy.close();
    expect(this.bugs).toEqual([]);
  }

  /** A plain request, with whatever headers and body. */
  async ask(route: string, init: RequestInit = {}) {
    const response = await fetch(`${this.server.baseUrl}${route}`, init);
    const { error } = (await response.json()) as { error: Record<string, string | null> };
    return { status: response.status, headers: response.headers, error };
  }

  post(route: string, body: unknown, headers: Record<string, string> = {}) {
    return this.ask(route, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }
}

let own: Room;
let llama: Room;
let instruct: Room;
beforeAll(async () => {
  const tokenizer = new CharacterTokenizer("0123456789+-= Final:é😀");
  const architecture = { ...SIZES.nano, vocabulary: tokenizer.size };
  // Ten times the usual spread, so that some tokens are likelier than others.
  const parameters = initialise(architecture, 1).map((x) => (x === 1 ? 1 : 10 * x));
  const content = { architecture, tokenizer, parameters, trained: null, maxLength: 64 };
  await saveCheckpoint(workspace.path("sft/checkpoint"), content);
  mkdirSync(workspace.path("instruct"));
  workspace.write("instruct/chat_template.jinja", TEMPLATE);
  cpSync(path.join(ROOT, "tests/fixtures/hf-tiny/qwen2-like"), workspace.path("instruct"), {
    recursive: true,
  });
  own = await Room.open(workspace.path("sft/checkpoint"));
  llama = await Room.open(LLAMA);
  instruct = await Room.open(workspace.path("instruct"));
});
afterAll(async () => {
  for (const room of [own, llama, instruct]) await room.close();
});

const SUM = { model: "tiny", prompt: "12+34=", max_tokens: 12, seed: 7 } as const;
const ASK = {
  model: "tiny",
  messages: [{ role: "user", content: "What is 12+34?" }],
  max_tokens: 24,
  seed: 7,
} satisfies OpenAI.ChatCompletionCreateParamsNonStreaming;

describe("answers", () => {
  test("the list of models, and the one", async () => {
    const { data } = await own.client.models.list();
    expect(data).toMatchObject([{ id: "tiny", object: "model", created: expect.any(Number) }]);
    expect(await own.client.models.retrieve("tiny")).toEqual(data[0]);
    await expect(own.client.models.retrieve("other")).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
    });
  });

  test("a completion: text, reason, usage, the policy's fingerprint", async () => {
    const answer = await own.client.completions.create(SUM);
    const { tokenizer } = own.policy.checkpoint;
    const prompt = [1, ...tokenizer.encode(SUM.prompt)];
    const sampling = { ...own.policy.sampling, max_tokens: 12 };
    const wanted = { prompt, address: [7, "serve", 0, 0] };
    const [said] = await own.policy.generate([wanted], { sampling });
    expect(answer).toMatchObject({
      object: "text_completion",
      model: "tiny",
      system_fingerprint: own.policy.checkpoint.fingerprint,
      choices: [{ index: 0, text: said?.completion, finish_reason: said?.finish, logprobs: null }],
      usage: {
        prompt_tokens: 7,
        completion_tokens: said?.completion_tokens,
        total_tokens: 7 + (said?.completion_tokens ?? 0),
      },
    });
    const short = await own.client.completions.create({ ...SUM, max_tokens: 1 });
    expect(short.choices[0]?.finish_reason).toBe("length");
  });

  test("chat goes through the policy's template", async () => {
    const answer = await instruct.client.chat.completions.create(ASK);
    expect(answer.object).toBe("chat.completion");
    expect(answer.choices[0]?.message).toMatchObject({ role: "assistant" });
    const prompt = "<|im_start|>user\nWhat is 12+34?<|im_end|>\n<|im_start|>assistant\n";
    const plain = await instruct.client.completions.create({
      ...{ model: "tiny", max_tokens: 24, seed: 7 },
      prompt: instruct.policy.checkpoint.tokenizer.encode(prompt),
    });
    expect(answer.usage).toEqual(plain.usage);
    expect(answer.choices[0]?.message.content).toBe(plain.choices[0]?.text);
    const parts = await instruct.client.chat.completions.create({
      ...ASK,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is " },
            { type: "text", text: "12+34?" },
          ],
        },
      ],
    });
    expect(parts.choices).toEqual(answer.choices);
    const [first] = answer.choices;
    if (!first) throw new Error("no choice");
    const again = { ...ASK, messages: [...ASK.messages, first.message, ...ASK.messages] };
    const longer = await instruct.client.chat.completions.create(again);
    expect(longer.usage?.prompt_tokens).toBeGreaterThan(2 * (plain.usage?.prompt_tokens ?? 0));
  });

  test("chat without a template is the system's text and the user's, and no more", async () => {
    const { choices } = await own.client.completions.create(SUM);
    const chat = (...messages: OpenAI.ChatCompletionMessageParam[]) =>
      own.client.chat.completions.create({ model: "tiny", max_tokens: 12, seed: 7, messages });
    const said = await chat(
      { role: "developer", content: "12" },
      { role: "user", content: "+34=" },
    );
    expect(said.choices[0]?.message.content).toBe(choices[0]?.text);
    const user = { role: "user", content: "1" } as const;
    await expect(chat(user, user)).rejects.toThrow(/no chat template/);
  });

  test("several samples and prompts: each is its own, and the first n are those of a smaller n", async () => {
    const many = await own.client.completions.create({ ...SUM, n: 11 });
    expect(many.choices.map(({ index }) => index)).toEqual(Array.from({ length: 11 }, (_, i) => i));
    const texts = many.choices.map(({ text }) => text);
    expect(new Set(texts).size).toBeGreaterThan(8);
    const few = await own.client.completions.create({ ...SUM, n: 2 });
    expect(few.choices.map(({ text }) => text)).toEqual(texts.slice(0, 2));
    const both = await own.client.completions.create({ ...SUM, prompt: [SUM.prompt, "9-"], n: 2 });
    expect(both.choices).toHaveLength(4);
    expect(both.choices.slice(0, 2)).toEqual(few.choices);
    expect(both.usage?.prompt_tokens).toBe(7 + 3);
  });

  test("the same seed gives the same text; another, or none, another", async () => {
    const text = async (more: object) =>
      (await own.client.completions.create({ ...SUM, max_tokens: 20, ...more })).choices[0]?.text;
    const first = await text({});
    expect(await text({})).toBe(first);
    expect(await text({ seed: 8 })).not.toBe(first);
    const unseeded = [undefined, undefined, null].map((seed) => text({ seed }));
    expect(new Set(await Promise.all(unseeded)).size).toBe(3);
    const greedy = { temperature: 0, seed: null };
    expect(await text(greedy)).toBe(await text(greedy));
    expect(await text({ top_k: 1 })).toBe(await text(greedy));
    expect(await text({ top_p: 1e-9 })).toBe(await text(greedy));
  });

  test("a stop text ends the answer and is no part of it", async () => {
    const whole = (await own.client.completions.create({ ...SUM, max_tokens: 30 })).choices[0];
    const stop = whole?.text.slice(3, 5) ?? "";
    expect(stop).toHaveLength(2);
    const expected = whole?.text.slice(0, whole.text.indexOf(stop));
    for (const given of [stop, ["zz", stop]]) {
      const body = { ...SUM, max_tokens: 30, stop: given };
      const cut = await own.client.completions.create(body);
      expect(cut.choices[0]).toMatchObject({ text: expected, finish_reason: "stop" });
      expect(cut.usage?.completion_tokens).toBeLessThan(30);
    }
  });

  test("max_completion_tokens is max_tokens, and what is neutral is no obstacle", async () => {
    const { max_tokens: most, ...rest } = ASK;
    const answer = await instruct.client.chat.completions.create(ASK);
    const other = await instruct.client.chat.completions.create({
      ...rest,
      max_completion_tokens: most,
      ...{ presence_penalty: 0, logit_bias: null, response_format: { type: "text" }, user: "me" },
      ...{ stop: null, store: false, tools: [] },
    });
    expect(other.choices).toEqual(answer.choices);
  });
});

/** Log-probs of the tokens after the prompt, from one pass over the whole text. */
async function teacherForced(checkpoint: Checkpoint, ids: readonly number[], from: number) {
  const { architecture, placed, parameters } = checkpoint;
  const leaves = new Map(placed.map(({ name, shape }) => [name, input(name, shape)]));
  const tokens = input("tokens", [1, ids.length - 1], "i64");
  const targets = input("targets", [1, ids.length - 1], "i64");
  const logits = logitsOf(architecture, (name) => leaves.get(name) as Tensor, tokens);
  const all = logSoftmax(logits);
  const session = await Session.create({ logprobs: pick(all, targets), all });
  const found = await session.run({
    ...Object.fromEntries(
      placed.map(({ name, offset, size }) => [name, parameters.subarray(offset, offset + size)]),
    ),
    tokens: BigInt64Array.from(ids.slice(0, -1), BigInt),
    targets: BigInt64Array.from(ids.slice(1), BigInt),
  });
  await session.close();
  const { vocabulary } = architecture;
  const rows = found.all as Float32Array;
  return {
    logprobs: Array.from(found.logprobs as Float32Array).slice(from - 1),
    best: (t: number, count: number) =>
      [...rows.subarray((from - 1 + t) * vocabulary, (from + t) * vocabulary)]
        .sort((a, b) => b - a)
        .slice(0, count),
  };
}

const near = (x: number) => expect.closeTo(x, 5);

describe("log-probs are the policy's own, at temperature 1", () => {
  test("of completions, with the likeliest and the offsets", async () => {
    const { tokenizer } = own.policy.checkpoint;
    const body = { ...SUM, logprobs: 3, temperature: 2, top_k: 9 };
    const { choices, usage } = await own.client.completions.create(body);
    const [{ text, logprobs }] = choices as [OpenAI.CompletionChoice];
    const { tokens = [], token_logprobs, top_logprobs = [], text_offset } = logprobs ?? {};
    expect(tokens).toHaveLength(usage?.completion_tokens ?? 0);
    const ids = tokens.map((name) =>
      SPECIAL_TOKENS.includes(name) ? SPECIAL_TOKENS.indexOf(name) : tokenizer.encode(name)[0],
    ) as number[];
    const prompt = [1, ...tokenizer.encode(SUM.prompt)];
    const right = await teacherForced(own.policy.checkpoint, [...prompt, ...ids], prompt.length);
    expect(token_logprobs).toEqual(right.logprobs.map(near));
    for (const [t, name] of tokens.entries()) {
      const { [name]: drawn, ...others } = top_logprobs[t] ?? {};
      expect(drawn).toBe(token_logprobs?.[t]);
      const values = [drawn as number, ...Object.values(others)].sort((a, b) => b - a);
      expect(values.slice(0, 3)).toEqual(right.best(t, 3).map(near));
    }
    const characters = [...text];
    for (const [t, offset] of (text_offset ?? []).entries()) {
      if (!SPECIAL_TOKENS.includes(tokens[t] ?? "")) expect(characters[offset]).toBe(tokens[t]);
    }
    const none = await own.client.completions.create({ ...SUM, logprobs: 0 });
    const top = none.choices[0]?.logprobs?.top_logprobs;
    expect(top?.every((each) => Object.keys(each).length === 1)).toBe(true);
    expect(none.choices[0]?.logprobs?.tokens?.length).toBeGreaterThan(0);
  });

  test("of chat, with the bytes of tokens that are no whole characters", async () => {
    const { tokenizer } = instruct.policy.checkpoint;
    const body = { ...ASK, logprobs: true, top_logprobs: 20, temperature: 0.5 };
    const { choices, usage } = await instruct.client.chat.completions.create(body);
    const content = choices[0]?.logprobs?.content ?? [];
    expect(content).toHaveLength(usage?.completion_tokens ?? 0);
    const byBytes = new Map(
      Array.from({ length: tokenizer.size }, (_, id) => [String([...tokenizer.bytesOf(id)]), id]),
    );
    const names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
    const ids = content.map(({ token, bytes }) =>
      bytes === null ? names.indexOf(token) : (byBytes.get(String(bytes)) ?? -1),
    );
    const prompt = tokenizer.encode(
      "<|im_start|>user\nWhat is 12+34?<|im_end|>\n<|im_start|>assistant\n",
    );
    const { checkpoint } = instruct.policy;
    const right = await teacherForced(checkpoint, [...prompt, ...ids], prompt.length);
    expect(content.map(({ logprob }) => logprob)).toEqual(right.logprobs.map(near));
    for (const [t, { top_logprobs: top }] of content.entries()) {
      expect(top.map(({ logprob }) => logprob)).toEqual(right.best(t, 20).map(near));
    }
    const plain = await instruct.client.chat.completions.create({ ...ASK, logprobs: true });
    expect(plain.choices[0]?.logprobs?.content?.[0]?.top_logprobs).toEqual([]);
  });
});

describe("a stream", () => {
  test("of chat is the answer, in parts that come one after the other", async () => {
    const body = { ...ASK, n: 3, logprobs: true, top_logprobs: 2 };
    const whole = await instruct.client.chat.completions.create(body);
    const stream = await instruct.client.chat.completions.create({
      ...{ ...body, stream: true, stream_options: { include_usage: true } },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream as AsyncIterable<OpenAI.ChatCompletionChunk>) {
      chunks.push(chunk);
    }
    const last = chunks.pop();
    expect(last).toMatchObject({ choices: [], usage: whole.usage });
    expect(chunks.every(({ usage, id }) => usage === null && id === last?.id)).toBe(true);
    const parts = chunks.flatMap(({ choices }) => choices);
    for (const choice of whole.choices) {
      const mine = parts.filter(({ index }) => index === choice.index);
      expect(mine[0]?.delta).toEqual({ role: "assistant", content: "" });
      expect(mine.length).toBeGreaterThan(4);
      expect(mine.map(({ delta }) => delta.content ?? "").join("")).toBe(choice.message.content);
      expect(mine.flatMap(({ logprobs }) => logprobs?.content ?? [])).toEqual(
        choice.logprobs?.content,
      );
      const reasons = mine.map(({ finish_reason: reason }) => reason);
      expect(reasons.pop()).toBe(choice.finish_reason);
      expect(reasons.every((reason) => reason === null)).toBe(true);
    }
  });

  test("of a completion is the answer; its stop text never shows", async () => {
    const prompt = "Once upon a time";
    const body = { model: "tiny", prompt, max_tokens: 60, seed: 4 };
    const { text: whole = "" } = (await llama.client.completions.create(body)).choices[0] ?? {};
    const stop = "Final";
    expect(whole, "something that resembles it comes before it").toMatch(/Fin[^a].*Final/s);
    const expected = whole.slice(0, whole.indexOf(stop));
    const parts = [];
    for await (const chunk of await llama.client.completions.create({
      ...{ ...body, stop, stream: true },
    })) {
      parts.push(...chunk.choices);
    }
    expect(parts.map(({ text }) => text).join("")).toBe(expected);
    expect(parts.at(-1)?.finish_reason).toBe("stop");
    const sent = parts.map(({ text }) => text);
    for (let i = 1; i <= sent.length; i++) {
      expect(expected.startsWith(sent.slice(0, i).join(""))).toBe(true);
    }
  });

  test("ends with [DONE], as events that nobody may cache", async () => {
    const response = await fetch(`${own.server.baseUrl}/completions`, {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify({ ...SUM, stream: true }),
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    const events = (await response.text()).split("\n\n");
    expect(events.slice(-2)).toEqual(["data: [DONE]", ""]);
    expect(events.slice(0, -2).every((event) => /^data: \{.*\}$/.test(event))).toBe(true);
  });
});

describe("one after the other", () => {
  const append = vi.spyOn(Decoding.prototype, "append");
  beforeEach(() => void append.mockClear());
  afterAll(() => append.mockRestore());
  /** Sixteen batches of about 240 tokens: seconds of work. */
  const LONG = { model: "tiny", prompt: "Once", max_tokens: 240, n: 128, seed: 1 } as const;

  test("a client that goes away in the middle of a stream stops the sampling", async () => {
    const stream = await llama.client.completions.create({ ...LONG, stream: true });
    for await (const _ of stream) break;
    await llama.client.completions.create({ ...SUM, max_tokens: 1 });
    expect(append.mock.calls.length).toBeLessThan(300);
  });

  test("so does one that waits for the whole; one that left the queue is never answered", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const asked = llama.client.completions.create(LONG, { signal: first.signal });
    await until(() => append.mock.calls.length > 3, "the sampling has begun");
    const waiting = llama.client.completions.create(LONG, { signal: second.signal });
    await new Promise((resolve) => setTimeout(resolve, 50));
    second.abort();
    first.abort();
    await expect(asked).rejects.toThrow(/abort/i);
    await expect(waiting).rejects.toThrow(/abort/i);
    await llama.client.completions.create({ ...SUM, max_tokens: 1 });
    expect(append.mock.calls.length).toBeLessThan(300);
  });

  test("up to 64 wait their turn, and more are refused", async () => {
    const stream = await llama.client.completions.create({ ...LONG, stream: true });
    const refused: APIError[] = [];
    let answered = 0;
    const later = Array.from({ length: 80 }, async () => {
      try {
        await llama.client.completions.create({ ...SUM, max_tokens: 1 });
        answered++;
      } catch (error) {
        refused.push(error as APIError);
      }
    });
    await until(() => refused.length === 80 - 64, "the rest is refused");
    expect(answered).toBe(0);
    stream.controller.abort();
    await Promise.all(later);
    expect(answered).toBe(64);
    for (const error of refused) expect(error).toMatchObject({ status: 429, code: "queue_full" });
  });
});

describe("refusals are in OpenAI's shape and name what is wrong", () => {
  const chat = "/chat/completions";
  const completions = "/completions";
  test.each<[route: string, body: unknown, status: number, param: string | null, says: RegExp]>([
    [completions, { ...SUM, model: "gpt-5" }, 404, "model", /no model "gpt-5".*"tiny"/],
    [completions, { prompt: "1" }, 400, "model", /model/],
    [completions, { ...SUM, prompt: "1".repeat(64) }, 400, "prompt", /65 tokens.*length is 64/],
    [completions, { ...SUM, prompt: "1 ж 2" }, 400, "prompt", /"ж".* \(U\+0436\).*character 3/],
    [completions, { ...SUM, prompt: ["1", "ж"] }, 400, "prompt[1]", /U\+0436/],
    [completions, { ...SUM, prompt: [25] }, 400, "prompt", /no token 25/],
    [completions, { ...SUM, prompt: 5 }, 400, "prompt", /expected a text/],
    [completions, { model: "tiny" }, 400, "prompt", /expected a text/],
    [completions, { ...SUM, prompt: ["1", "2"], n: 65 }, 400, "n", /128/],
    [completions, "{", 400, null, /not JSON/],
    [completions, "", 400, null, /not JSON/],
    [completions, "[]", 400, null, /object/],
    [completions, "null", 400, null, /object/],
    [completions, { ...SUM, temperature: "hot" }, 400, "temperature", /number/],
    [completions, { ...SUM, temperature: -1 }, 400, "temperature", />=0/],
    [completions, { ...SUM, top_p: 0 }, 400, "top_p", />0/],
    [completions, { ...SUM, top_k: 1.5 }, 400, "top_k", /int/],
    [completions, { ...SUM, max_tokens: 0 }, 400, "max_tokens", />=1/],
    [completions, { ...SUM, n: 0 }, 400, "n", />=1/],
    [completions, { ...SUM, seed: 0.5 }, 400, "seed", /int/],
    [completions, { ...SUM, stop: ["1", "2", "3", "4", "5"] }, 400, "stop", /up to 4/],
    [completions, { ...SUM, stop: "" }, 400, "stop", />=1/],
    [completions, { ...SUM, stop: "\ud83d" }, 400, "stop", /half/],
    [completions, { ...SUM, logprobs: 6 }, 400, "logprobs", /<=5/],
    [completions, { ...SUM, logprobs: true }, 400, "logprobs", /number/],
    [completions, { ...SUM, stream: 1 }, 400, "stream", /boolean/],
    [completions, { ...SUM, stream_options: {} }, 400, "stream_options", /stream/],
    [completions, { ...SUM, tempratur: 1 }, 400, "tempratur", /unknown/],
    [completions, { ...SUM, echo: true }, 400, "echo", /not support/],
    [completions, { ...SUM, best_of: 3 }, 400, "best_of", /not support/],
    [completions, { ...SUM, suffix: "x" }, 400, "suffix", /not support/],
    ...[
      { tools: [{ type: "function" }] },
      { functions: [{ name: "f" }] },
      { response_format: { type: "json_object" } },
      { logit_bias: { "5": 1 } },
      { presence_penalty: 0.5 },
      { frequency_penalty: -0.5 },
      { audio: { voice: "x" } },
    ].map((more): [string, object, number, string, RegExp] => {
      const [name = ""] = Object.keys(more);
      return [chat, { ...ASK, ...more }, 400, name, new RegExp(`not support "${name}"`)];
    }),
    [chat, { ...ASK, messages: [] }, 400, "messages", />=1/],
    [chat, { ...ASK, messages: [{ role: "tool", content: "1" }] }, 400, "messages[0].role", /user/],
    [chat, { ...ASK, messages: [{ role: "user" }] }, 400, "messages[0].content", /text/],
    [
      chat,
      { ...ASK, messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
      ...([400, "messages[0].content", /parts of text/] as const),
    ],
    [chat, { ...ASK, top_logprobs: 2 }, 400, "top_logprobs", /logprobs/],
    [chat, { ...ASK, logprobs: true, top_logprobs: 21 }, 400, "top_logprobs", /<=20/],
    [chat, { ...ASK, logprobs: 3 }, 400, "logprobs", /boolean/],
    [chat, { ...ASK, max_completion_tokens: 3 }, 400, "max_tokens", /differ/],
    [chat, { ...ASK, messages: [{ role: "user", content: "ж" }] }, 400, "messages", /U\+0436/],
  ])("%s %j", async (route, body, status, param, says) => {
    const { error, ...found } = await own.post(route, body);
    expect(found.status).toBe(status);
    expect(error).toEqual({
      message: expect.stringMatching(says),
      type: "invalid_request_error",
      param,
      code: error.code,
    });
    expect(error.message, "no stack").not.toMatch(/^\s+at |\.ts|\.js/m);
  });

  test("the codes that programs look for", async () => {
    const code = async (body: object) => (await own.post(completions, body)).error.code;
    expect(await code({ ...SUM, model: "gpt-5" })).toBe("model_not_found");
    expect(await code({ ...SUM, prompt: "1".repeat(64) })).toBe("context_length_exceeded");
    expect(await code({ ...SUM, echo: true })).toBe("unsupported_parameter");
    expect(await code({ ...SUM, ecko: true })).toBe("unknown_parameter");
    const room = await own.client.completions.create({ ...SUM, prompt: "1".repeat(62) });
    expect(room.usage).toMatchObject({ prompt_tokens: 63, completion_tokens: 1 });
  });

  test("what the template refuses, and an empty prompt", async () => {
    const messages = [{ role: "assistant", content: "hm" }];
    const { error } = await instruct.post(chat, { ...ASK, messages });
    expect(error).toMatchObject({ param: "messages", message: /a user must begin/ });
    const empty = await llama.post(completions, { ...SUM, prompt: "" });
    expect(empty).toMatchObject({ status: 400, error: { param: "prompt", message: /empty/ } });
  });

  test("unknown addresses, wrong methods, other kinds of body", async () => {
    expect(await own.ask("/nothing")).toMatchObject({
      status: 404,
      error: { code: "unknown_url" },
    });
    const wrong = await own.ask(completions);
    expect(wrong).toMatchObject({ status: 405, error: { code: "method_not_allowed" } });
    expect(wrong.headers.get("allow")).toBe("POST");
    expect(await own.post("/models", {})).toMatchObject({ status: 405 });
    for (const type of ["text/plain", "application/jsonp", "application/x-www-form-urlencoded"]) {
      const found = await own.post(completions, SUM, { "content-type": type });
      expect(found).toMatchObject({ status: 415, error: { message: /application\/json/ } });
    }
    const bytes = Buffer.from('{"model": "\xff"}', "latin1");
    const headers = { "content-type": "application/json" };
    const found = await own.ask(completions, { method: "POST", headers, body: bytes });
    expect(found).toMatchObject({ status: 400, error: { message: /UTF-8/ } });
  });

  test("a body over 1 MiB, whether or not its length is told", async () => {
    const large = JSON.stringify({ ...SUM, prompt: "1".repeat(1024 * 1024) });
    const refused = { status: 413, error: { type: "invalid_request_error" } };
    expect(await own.post(completions, large)).toMatchObject(refused);
    const headers = { "content-type": "application/json" };
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(large));
        controller.close();
      },
    });
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    expect(await own.ask(completions, init)).toMatchObject(refused);
    expect((await own.client.completions.create(SUM)).choices).toHaveLength(1);
  });

  test("a bug of ours is told to the terminal, and not to the client", async () => {
    const broken = vi.spyOn(own.policy, "generateSteps").mockImplementation(() => {
      throw new Error("secret /path");
    });
    const found = await own.post(completions, SUM);
    expect(found).toMatchObject({ status: 500, error: { type: "server_error" } });
    const stream = await own.client.completions.create({ ...SUM, stream: true });
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow(/the server failed/);
    broken.mockRestore();
    expect(JSON.stringify(found)).not.toContain("secret");
    expect(own.bugs.splice(0)).toMatchObject([{ message: /secret/ }, { message: /secret/ }]);
    expect((await own.client.completions.create(SUM)).choices).toHaveLength(1);
  });
});

test("requests under another host name are refused", async () => {
  const { port } = own.server;
  const answer = await new Promise<string>((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1").setEncoding("utf8");
    socket.on("data", (part) => {
      text += part;
    });
    socket.on("error", reject).on("close", () => resolve(text));
    socket.write("GET /v1/models HTTP/1.1\r\nHost: evil.com\r\nConnection: close\r\n\r\n");
  });
  expect(answer).toMatch(/^HTTP\/1.1 403 /);
  expect(answer).toContain('"type":"invalid_request_error","param":null,"code":"host_not_allowed"');
});

describe("the command", () => {
  /** Starts it and gives what it printed, once it listens. */
  async function serve(policy: string) {
    const running = workspace.start(["serve", "--policy", policy, "--port", "0"]);
    let stdout = "";
    running.child.stdout?.on("data", (text: string) => {
      stdout += text;
    });
    await until(() => /Ctrl-C/.test(stdout), "it listens");
    const [url = ""] = stdout.split("\n");
    return { ...running, stdout, url };
  }

  test("prints its URL first, then the name and a curl that works; SIGINT ends it", async () => {
    const { child, finished, stdout, url } = await serve("sft/checkpoint");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(stdout).toContain(`\nServing sft to OpenAI clients at ${url}/v1\n`);
    expect(stdout).not.toMatch(/^.{81}/m);
    const curl = stdout.replaceAll("\\\n", "").replaceAll(/\n */g, " ");
    const [, to = "", body = ""] = /curl (\S+) .*-d '(.*)'/.exec(curl) ?? [];
    expect(to.startsWith(`${url}/v1/`)).toBe(true);
    const headers = { "content-type": "application/json" };
    const response = await fetch(to, { method: "POST", headers, body });
    expect(response.status).toBe(200);
    child.kill("SIGINT");
    expect(await finished).toMatchObject({ code: EXIT.ok, stderr: "" });
  });

  test("SIGTERM cuts what would take long, and says so", async () => {
    const { child, finished, url } = await serve(LLAMA);
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
    const long = { model: "llama", prompt: "Once", max_tokens: 240, n: 128, seed: 1 };
    const stream = await client.completions.create({ ...long, stream: true });
    const waiting = client.completions.create(long).catch((error: APIError) => error);
    let parts = 0;
    const reading = (async () => {
      for await (const _ of stream) if (parts++ === 0) child.kill("SIGTERM");
    })();
    await expect(reading).rejects.toThrow(/stopping/);
    expect(await waiting).toMatchObject({ status: 503, code: "server_stopping" });
    expect(await finished).toMatchObject({ code: EXIT.ok, stderr: "" });
    expect(parts).toBeGreaterThan(1);
  });

  test("a short answer is finished first", async () => {
    const { child, finished, url } = await serve("instruct");
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
    const stream = await client.chat.completions.create({
      ...{ ...ASK, model: "instruct", stream: true },
    });
    let reason: string | null | undefined;
    for await (const chunk of stream as AsyncIterable<OpenAI.ChatCompletionChunk>) {
      if (reason === undefined) child.kill("SIGTERM");
      reason = chunk.choices[0]?.finish_reason ?? null;
    }
    expect(reason).toMatch(/stop|length/);
    expect(await finished).toMatchObject({ code: EXIT.ok, stderr: "" });
  });

  test.each<[args: () => string[], code: number, ...says: (string | RegExp)[]]>([
    [
      () => ["--policy", "sft/checkpoint", "--port", `${own.server.port}`],
      ...([EXIT.usage, /port \d+ is in use already/, "--port 0"] as const),
    ],
    [() => ["--policy", "nowhere"], EXIT.data, "there is no folder nowhere"],
    [() => [], EXIT.usage, "--policy"],
    [() => ["--policy", "sft/checkpoint", "--port", "65536"], EXIT.usage, "0 to 65535"],
  ])("mistakes %#", async (args, code, ...says) => {
    expectError(await workspace.run(["serve", ...args()]), code, ...says);
  });
});
