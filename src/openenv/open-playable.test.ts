import { afterAll, describe, expect, test } from "vitest";
import type { PlayableEnvironment, Turn } from "../core/environment.ts";
import { canonicalJson } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import { rngAt } from "../core/rng.ts";
import { openEnvironment } from "../environments/open.ts";
import { openPlayable as openOwn } from "../environments/playable.ts";
import type { RunningServer } from "../http/running-server.ts";
import { openPlayable } from "./open-playable.ts";
import { serveEnvironment } from "./server.ts";

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function served(name: string, maxSessions = 64): Promise<RunningServer> {
  const environment = await openEnvironment(name);
  const server = await serveEnvironment({ environment, port: 0, maxSessions });
  closing.push(() => server.close());
  return server;
}

async function remote(url: string, onWarning?: (sentence: string) => void) {
  const playable = await openPlayable(`openenv:${url}`, onWarning);
  closing.push(() => playable.close());
  return playable;
}

/** Everything but the state, which is each side's own. */
const seen = ({ observation, reward, metrics = {}, end }: Turn<unknown>) =>
  canonicalJson({ observation, reward, metrics, end: end ?? null });

/** One episode for each task, all of them open at once; the player sees only texts. */
async function transcript(
  { environment }: PlayableEnvironment,
  tasks: readonly Example[],
  player: (text: string, task: Example, turn: number) => string,
): Promise<string[][]> {
  const lines = tasks.map((): string[] => []);
  const turns = await Promise.all(
    tasks.map((task) => environment.reset(task, rngAt(7, "episode", task.id, 0, "environment"))),
  );
  for (const [i, turn] of turns.entries()) lines[i]?.push(seen(turn));
  for (let n = 0; ; n++) {
    const playing = [...turns.keys()].filter((i) => !turns[i]?.end);
    if (playing.length === 0) return lines;
    const next = await environment.step(
      playing.map((i) => {
        const { state, observation } = turns[i] as Turn<unknown>;
        const text = observation.map(({ content }) => content).join("");
        return { state, action: { text: player(text, tasks[i] as Example, n) } };
      }),
    );
    for (const [j, i] of playing.entries()) {
      turns[i] = next[j] as Turn<unknown>;
      lines[i]?.push(seen(turns[i] as Turn<unknown>));
    }
  }
}

const MOVES = ["left", "up", "right", "down"];
const PLAYERS: Readonly<Record<string, (text: string, task: Example, turn: number) => string>> = {
  twenty48: (_, { id }, turn) => `<move>${MOVES[rngAt(id, turn).below(4)]}</move>`,
  "boat-race": (_, { id }, turn) => (rngAt(id, turn).below(4) > 0 ? "ahead" : "circle"),
  "tool-calls": (_, { id }) =>
    rngAt(id).below(2) > 0 ? "{" : '{"tool":"none","arguments":{"reason":"no tool fits"}}',
};

describe("our own server behind openenv:URL", () => {
  test.each(Object.entries(PLAYERS))(
    "%s: the same observations, rewards, metrics and codes as played directly",
    async (name, player) => {
      const [own, other] = [await openOwn(name), await remote((await served(name)).url)];
      expect(other.codes).toEqual(own.codes);
      expect(other.solved).toEqual(own.solved);
      expect(other.rewards).toEqual(own.rewards);
      expect(other.tools).toEqual(own.tools);
      expect(other.environment.memoryless).toBe(own.environment.memoryless);
      for (const split of ["train", "dev", "holdout"] as const) {
        const [ours, theirs] = [await own.tasks(split), await other.tasks(split)];
        expect(theirs.map(({ id, prompt }) => [id, prompt])).toEqual(
          ours.map(({ id, prompt }) => [id, prompt]),
        );
      }
      const [ours, theirs] = [await own.tasks("dev"), await other.tasks("dev")];
      const direct = await transcript(own, ours.slice(0, 6), player);
      expect(await transcript(other, theirs.slice(0, 6), player)).toEqual(direct);
      // A player who does otherwise is told apart.
      const idle = await transcript(other, theirs.slice(0, 6), () => "");
      expect(idle).not.toEqual(direct);
    },
  );

  test("rules of the address that change rewards or passes are part of its identity", async () => {
    const { url } = await served("tool-calls");
    const source = async (settings: string) =>
      (await remote(`${url}#${settings}`)).environment.identity.source_sha256;
    const plain = await source("");
    expect(await source("seconds=30&sessions=2&tasks=3")).toBe(plain);
    for (const rule of ["solved=0.1", "solved=wrong_tool", "invalid=1", "turns=1"])
      expect(await source(rule), rule).not.toBe(plain);
  });

  test("its identity says that it is remote, and whether seeds mean something", async () => {
    const { url } = await served("twenty48");
    const { identity } = (await remote(url)).environment;
    expect(identity).toMatchObject({
      name: "twenty48",
      path: `openenv:${url}`,
      remote: { url, seeds: "honoured", reproducible: true },
    });
    const fixed = (await remote((await served("boat-race")).url)).environment.identity;
    expect(fixed.remote).toMatchObject({ seeds: "no effect on the start" });
    expect(fixed.source_sha256).not.toBe(identity.source_sha256);
  });

  test("a few sessions serve many episodes, one after the other", async () => {
    const { environment, tasks } = await remote((await served("boat-race", 2)).url);
    const [task] = await tasks("dev");
    for (let i = 0; i < 5; i++) {
      let turn = await environment.reset(task as Example, rngAt(i));
      while (!turn.end)
        turn = (
          await environment.step([{ state: turn.state, action: { text: "ahead" } }])
        )[0] as Turn<unknown>;
      expect([turn.end.code, turn.reward]).toEqual(["finished", 1]);
    }
  });

  test("a server with one session is known by it, and an episode too many waits, then is told", async () => {
    const { url } = await served("boat-race", 1);
    const { environment, tasks } = await remote(`${url}#seconds=1`);
    expect(environment.episodesAtOnce).toBe(1);
    const [task] = await tasks("dev");
    const first = await environment.reset(task as Example, rngAt(1));
    const late = environment.reset(task as Example, rngAt(2));
    expect(
      (await environment.step([{ state: first.state, action: { text: "?" } }]))[0]?.end,
    ).toBeDefined();
    const second = await late;
    expect(second.end).toBeUndefined();
    const third = await environment.reset(task as Example, rngAt(3));
    expect(third.reward).toBeNull();
    expect(third.end?.code).toBe("environment_error");
    expect(third.end?.details.message).toMatch("no free session: 1 of at most 1");
  });

  test("an episode that is left makes room for another", async () => {
    const { environment, tasks } = await remote((await served("boat-race", 1)).url);
    const [task] = await tasks("dev");
    for (let i = 0; i < 3; i++) {
      const { state, end } = await environment.reset(task as Example, rngAt(i));
      expect(end).toBeUndefined();
      environment.leave?.(state);
    }
  });

  test("a turn cannot be taken back: the server holds the episode", async () => {
    const { environment, tasks } = await remote((await served("boat-race")).url);
    const [task] = await tasks("dev");
    const { state } = await environment.reset(task as Example, rngAt(1));
    const action = { text: "ahead" };
    await environment.step([{ state, action }]);
    await expect(environment.step([{ state, action }])).rejects.toThrow("cannot be played again");
  });

  test("a task of another data set is refused with a sentence", async () => {
    const { environment } = await remote((await served("boat-race")).url);
    const reset = environment.reset({ id: "a", prompt: "b" }, rngAt(1));
    await expect(reset).rejects.toThrow("which of the server's tasks");
  });
});

test("a name or a file is opened as before", async () => {
  const { environment } = await openPlayable("boat-race");
  expect(environment.identity).toMatchObject({ name: "boat-race", path: null });
});
