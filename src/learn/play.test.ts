/** Episodes of one turn and of several, played by a policy that is not a model. */

import { describe, expect, test } from "vitest";
import type { Environment } from "../core/environment.ts";
import { dataError } from "../core/errors.ts";
import type { Example } from "../core/records.ts";
import type { CheckedScore, GuardedScorer } from "../core/score.ts";
import type { Engine } from "../engine/engine.ts";
import { singleTurn } from "../environments/single-turn.ts";
import { chatTemplate } from "../policy/chat.ts";
import { conversation } from "../policy/conversation.ts";
import { openScorer } from "../scorers/open.ts";
import { play, requireReward } from "./play.ts";

const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 4, stop: [], seed: 0 };
const END = 0;
const BANG = 33;

/** Tokens are character codes; it repeats the last character that it read, then ends. */
const echo: Pick<Engine, "sample" | "encoder"> = {
  encoder: {
    promptTokens: (text) => [1, ...encode(text)],
    conversation: conversation(null, { beginToken: 1, encode, endTokens: [END] }),
    ...{ encode, endToken: END, maxLength: 20 },
  },
  sample: async (requests) =>
    requests.map(({ prompt }) => {
      const token = prompt.at(-1) as number;
      return {
        ...{ completion: String.fromCharCode(token), finish: "stop", sampled_logprobs: null },
        ...{ tokens: [token, END], logprobs: [-1, -2] },
        ...{ prompt_tokens: prompt.length, completion_tokens: 2 },
      };
    }),
};

function encode(text: string): number[] {
  return [...text].map((character) => character.charCodeAt(0));
}

const task = (id: string, prompt: string): Example => ({ id, prompt });
const requests = (...tasks: Example[]) => tasks.map((one) => ({ task: one, address: [one.id] }));

function scorer(name: string, score: (completion: string) => number | null): GuardedScorer {
  return {
    identity: { name, version: "1", spec: name, source_sha256: "0".repeat(64), path: null },
    ...{ concurrency: 1, timeoutMs: 1000, close: async () => {} },
    scoreBatch: async (batch) =>
      batch.map(({ completion }): CheckedScore => {
        const reward = score(completion);
        return { reward, code: reward === null ? "scorer_error" : `is ${reward}`, details: {} };
      }),
  };
}

describe("a scored prompt", () => {
  const isB = scorer("b", (text) => Number(text === "b"));

  test("is an episode of one turn: one span, the scorer's reward and code", async () => {
    const tasks = requests(task("x", "aab"), task("y", "a"));
    const { episodes } = await play(echo, singleTurn({ scorers: [isB] }), tasks, SAMPLING);
    expect(episodes.map(({ reward, end }) => [reward, end.code, end.terminated])).toEqual([
      [1, "is 1", true],
      [0, "is 0", true],
    ]);
    expect(episodes[0]?.rows).toEqual([{ tokens: [1, ...encode("aabb"), END], actions: [[4, 6]] }]);
  });

  test("adds up rewards by weight, and names each part and the cost", async () => {
    const environment = singleTurn({
      scorers: [isB, scorer("two", () => 2)],
      weights: [1, 0.5],
      cost: scorer("cost", () => 0.25),
    });
    const { episodes } = await play(echo, environment, requests(task("x", "b")), SAMPLING);
    expect(episodes[0]?.reward).toBe(2);
    expect(episodes[0]?.metrics).toEqual({ "reward/b": 1, "reward/two": 2, cost: 0.25 });
  });

  test.each([
    ["a scorer", { scorers: [isB, scorer("broken", () => null)] }],
    ["the cost scorer", { scorers: [isB], cost: scorer("broken", () => null) }],
  ])("has no reward where %s breaks, and training refuses it by name", async (_, parts) => {
    const { episodes } = await play(echo, singleTurn(parts), requests(task("x", "b")), SAMPLING);
    const [episode] = episodes;
    expect(episode?.reward).toBeNull();
    expect(() => episode && requireReward(episode)).toThrow(/scorer broken gave no reward .* on x/);
  });

  test("whose expected answer the built-in scorer cannot read is a fault of the data", async () => {
    const environment = singleTurn({ scorers: [await openScorer()] });
    const unreadable = { ...task("x", "b"), expected_answer: "four" };
    const { episodes } = await play(echo, environment, requests(unreadable), SAMPLING);
    const [episode] = episodes;
    expect(episode?.reward).toBeNull();
    let refusal: unknown;
    try {
      if (episode) requireReward(episode);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({
      ...{ kind: "data", message: expect.stringMatching(/no reward \(invalid_example\) .* on x/) },
      hint: expect.stringContaining("Give --scorer"),
    });
  });
});

/** Gives a letter in each turn and pays for each that comes back; over after `turns`. */
function letters(turns: number): Environment<number> {
  return {
    identity: { name: "letters", turns },
    reset: async (one) => ({
      ...{ state: 0, reward: 0, metrics: { resets: 1 } },
      observation: [{ role: "user", content: one.prompt }],
    }),
    step: async (batch) =>
      batch.map(({ state, action }) => {
        const turn = state + 1;
        const observation = [{ role: "user" as const, content: "cd"[turn] ?? "e" }];
        const end = { code: "done", terminated: true, details: {} };
        return {
          ...{ state: turn, observation, metrics: { turns: 1 } },
          reward: action.text === "" ? 0 : 1,
          ...(turn === turns && { end }),
        };
      }),
  };
}

describe("an environment of several turns", () => {
  test("gives rows with a span for each turn, and the sum of the rewards", async () => {
    const { episodes } = await play(echo, letters(2), requests(task("x", "a")), SAMPLING);
    const [episode] = episodes;
    // Prompt and action, then the observation "d" and the second action.
    expect(episode?.rows[0]?.tokens).toEqual([1, ...encode("aa"), END, ...encode("dd"), END]);
    expect(episode?.rows[0]?.actions).toEqual([
      [2, 4],
      [5, 7],
    ]);
    expect(episode?.generations).toHaveLength(2);
    expect([episode?.reward, episode?.metrics, episode?.end.code]).toEqual([
      2,
      { resets: 1, turns: 2 },
      "done",
    ]);
  });

  test("a memoryless one gives a row for each turn, which holds no earlier turn", async () => {
    const environment = { ...letters(3), memoryless: true };
    const { episodes } = await play(echo, environment, requests(task("x", "a")), SAMPLING);
    expect(episodes[0]?.rows).toEqual([
      { tokens: [1, ...encode("aa"), END], actions: [[2, 4]] },
      { tokens: [1, ...encode("dd"), END], actions: [[2, 4]] },
      { tokens: [1, ...encode("ee"), END], actions: [[2, 4]] },
    ]);
    expect(episodes[0]?.turnRewards).toEqual([1, 1, 1]);
  });

  test("is cut short when the context is full, which is not the end of the task", async () => {
    const { episodes } = await play(echo, letters(99), requests(task("x", "a")), SAMPLING);
    expect(episodes[0]?.end).toMatchObject({ code: "context_full", terminated: false });
    expect(episodes[0]?.rows[0]?.tokens.length).toBeLessThanOrEqual(echo.encoder.maxLength);
  });

  test("an observation that the policy cannot read is named", async () => {
    const noD = (text: string) => {
      if (text.includes("d")) throw dataError('unknown character "d"', "Use another.");
      return encode(text);
    };
    const reading = conversation(null, { beginToken: 1, encode: noD, endTokens: [END] });
    const reader = { ...echo, encoder: { ...echo.encoder, conversation: reading } };
    const playing = play(reader, letters(2), requests(task("x", "a")), SAMPLING);
    await expect(playing).rejects.toMatchObject({
      ...{ kind: "data", hint: "Use another." },
      message: 'in the observation "d" of x: unknown character "d"',
    });
  });

  test("goes through a chat template in every turn, and nothing sampled is tokenised again", async () => {
    const source =
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}!{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
    const template = chatTemplate(source, "t", { begin: null, end: "!" });
    const chatty = conversation(template, { beginToken: null, encode, endTokens: [BANG] });
    // It ends its turn itself, as the template would.
    const ends = async (requests: readonly { readonly prompt: readonly number[] }[]) =>
      requests.map(() => ({
        ...{ completion: "b", finish: "stop" as const, sampled_logprobs: null },
        ...{ tokens: [98, BANG], logprobs: [-1, -2], prompt_tokens: 1, completion_tokens: 2 },
      }));
    const player = { sample: ends, encoder: { ...echo.encoder, conversation: chatty } };
    const wide = { ...player, encoder: { ...player.encoder, maxLength: 100 } };
    const { episodes } = await play(wide, letters(2), requests(task("x", "a")), SAMPLING);
    const [row] = episodes[0]?.rows ?? [];
    expect(String.fromCharCode(...(row?.tokens ?? []))).toBe(
      "<user>a!<assistant>b!<user>d!<assistant>b!",
    );
    expect(row?.actions.map(([from, to]) => row.tokens.slice(from, to))).toEqual([
      [98, BANG],
      [98, BANG],
    ]);
  });
});
