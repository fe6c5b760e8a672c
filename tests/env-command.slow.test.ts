/** `env` at the terminal: embedded, of a file that misbehaves, and on a server. */

import { once } from "node:events";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { EXIT, type Finished, type Running, until, Workspace } from "./cli.ts";
import { tooWide } from "./width.ts";

const workspace = new Workspace();

/** Plays with these lines as answers. */
function play(args: readonly string[], lines: readonly string[]): Promise<Finished> {
  const { child, finished } = workspace.start(["env", "play", ...args]);
  child.stdin?.on("error", () => {});
  child.stdin?.end(lines.map((line) => `${line}\n`).join(""));
  return finished;
}

async function serve(name: string): Promise<{ url: string; running: Running }> {
  const running = workspace.start(["env", "serve", name, "--port", "0"], { limitMs: 120_000 });
  let shown = "";
  running.child.stdout?.on("data", (text: string) => {
    shown += text;
  });
  while (!shown.includes("\n")) await once(running.child.stdout as Readable, "data");
  return { url: shown.split("\n")[0] as string, running };
}

/** An environment of one turn whose step is this. */
function file(name: string, step: string, more = ""): string {
  return workspace.write(
    `${name}.ts`,
    `let calls = 0;
    export default {
      name: "guess", version: "1.0.0", spec: "Say the number.",
      codes: ["right", "wrong"], solved: ["right"], rewards: [0, 1], maxTurns: 1, random: true,
      tasks: (split: string) => [0, 1].map((i) => ({ id: split + i, prompt: split + " " + i })),
      reset: (_task: unknown, seed: number) => ({
        state: 100 + (seed % 1000), observation: [{ role: "user", content: "Guess.\\n" }], reward: 0,
      }),
      step: (state: number, { text }: { text: string }) => { ${step} },
      players: { gold: String, idle: () => "" },
      ansi: String,
      ${more}
    };`,
  );
}

const RIGHT = `const right = text === String(state);
  return { state, observation: [], reward: right ? 1 : 0,
    end: { code: right ? "right" : "wrong", terminated: true, details: {} } };`;

const BROKEN: readonly [string, string, RegExp][] = [
  ["throws", "throw new Error('out of ink');", /threw: out of ink/],
  ["hangs", "for (;;) {}", /did not answer within 2 s/],
  [
    "changes its answer",
    `calls += 1; ${RIGHT.replace("right ? 1 : 0", "Math.random()")}`,
    /not\s+deterministic/,
  ],
];

describe("an environment of a file", () => {
  test("a sound one is checked and played", async () => {
    const name = file("sound", RIGHT);
    expect(await workspace.run(["env", "check", name])).toMatchObject({ code: 0, stderr: "" });
    const { code, stdout } = await play([name], ["5"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("The end: wrong, reward 0.")]);
  });

  test.each(BROKEN)("one that %s: no reward anywhere, and a sentence", async (what, step, why) => {
    const name = file(what.replaceAll(" ", "-"), step);
    const checked = await workspace.run(["env", "check", name, "--tasks", "1"], {
      limitMs: 120_000,
    });
    expect(checked.code).toBe(1);
    expect(checked.stdout.replace(/\s+/g, " ")).toMatch(why);
    const played = await play([name], ["5"]);
    expect(played.code).toBe(EXIT.data);
    expect(played.stderr.replace(/\s+/g, " ")).toMatch(why);
    expect(played.stdout).not.toContain("The end");
    const { url, running } = await serve(name);
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
    const answers: { data: { reward: unknown; done: boolean; metadata: { code: string } } }[] = [];
    socket.on("message", (text) => answers.push(JSON.parse(String(text))));
    socket.on("open", () => {
      socket.send('{"type":"reset"}');
      socket.send('{"type":"step","data":{"text":"5"}}');
    });
    await until(() => answers.length === 2, "the server's answers");
    expect(answers[1]?.data).toMatchObject({
      ...{ reward: null, done: true },
      metadata: { code: "environment_error", truncated: true },
    });
    running.child.kill("SIGTERM");
    expect((await running.finished).code).toBe(0);
  });

  test.each([
    [
      "tasks throw",
      "tasks: () => { throw new Error('no file'); },",
      /tasks\("\w+"\) threw: no file/,
    ],
    ["tasks are no tasks", "tasks: () => [{ id: 1 }],", /no list of objects/],
    [
      "a player throws",
      "players: { idle: () => { throw new Error('lost'); } },",
      /players.idle threw: lost/,
    ],
  ])("one: %s; it is refused with a sentence", async (what, more, why) => {
    const name = file(what.replaceAll(" ", "-"), RIGHT, more);
    const { code, stderr } = await workspace.run(["env", "check", name]);
    expect([code, stderr]).toEqual([EXIT.data, expect.stringMatching(why)]);
  });
});

describe("on a server", () => {
  let served: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    served = await serve("twenty48");
  });
  afterAll(() => void served.running.child.kill("SIGTERM"));

  test("a game through openenv:URL is the game played directly", async () => {
    const moves = ["left", "up", "left", "up", "right", "down"].map(
      (move) => `<move>${move}</move>`,
    );
    const flags = ["--seed", "3", "--task", "2048-dev-2"];
    const direct = await play(["twenty48", ...flags], [...moves, "nonsense"]);
    const through = await play([`openenv:${served.url}`, ...flags], [...moves, "nonsense"]);
    expect(direct.stdout).toContain("The end: unreadable_move, reward -1.");
    // A server has no scripted player that could give an example of an answer.
    const game = direct.stdout.replace(/^ {2}answer {2}such as .*\n/m, "");
    expect(game).not.toBe(direct.stdout);
    expect(through).toEqual({ ...direct, stdout: game });
    const other = await play(["twenty48", "--seed", "4"], [...moves, "nonsense"]);
    expect(other.stdout).not.toBe(direct.stdout);
  });

  test("show and check", async () => {
    const given = `openenv:${served.url}`;
    const shown = await workspace.run(["env", "show", given]);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toMatch(/seeds\s+honoured/);
    expect(tooWide(shown.stdout)).toEqual([]);
    const checked = await workspace.run(["env", "check", given, "--format", "json"]);
    expect(checked.code).toBe(0);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      environment: { name: "twenty48", remote: { reproducible: true } },
      passed: true,
    });
  });

  test("an unknown task, no server, and a server of a server: a sentence and the right code", async () => {
    const unknown = await play([`openenv:${served.url}`, "--task", "2048-dev-9999"], []);
    expect([unknown.code, unknown.stderr]).toEqual([
      EXIT.usage,
      expect.stringContaining("has no task 2048-dev-9999 in the split dev"),
    ]);
    const none = await workspace.run(["env", "show", "openenv:http://127.0.0.1:9"]);
    expect([none.code, none.stderr]).toEqual([
      EXIT.data,
      expect.stringContaining("cannot be reached"),
    ]);
    const again = await workspace.run(["env", "serve", `openenv:${served.url}`]);
    expect(again.code).toBe(EXIT.usage);
  });

  test("a server that is stopped in the middle of a game: an error, no reward", async () => {
    const { url, running } = await serve("boat-race");
    const game = workspace.start(["env", "play", `openenv:${url}`]);
    let shown = "";
    game.child.stdout?.on("data", (text: string) => {
      shown += text;
    });
    await until(() => shown.includes("you>"), "the first turn");
    running.child.kill("SIGKILL");
    await running.finished;
    game.child.stdin?.end("ahead\n");
    const { code, stdout, stderr } = await game.finished;
    expect(code).toBe(EXIT.data);
    expect(stderr.replace(/\s+/g, " ")).toMatch(/closed the connection|lost the connection/);
    expect(stdout).not.toContain("The end");
  });
});

test("the list has one line for each, of at most 80 columns", async () => {
  const { stdout } = await workspace.run(["env", "list"]);
  const names = JSON.parse((await workspace.run(["env", "list", "--format", "json"])).stdout);
  const lines = stdout.trimEnd().split("\n").slice(0, -2);
  expect(lines.map((line) => line.trim().split(/\s+/)[0])).toEqual(
    names.map(({ name }: { name: string }) => name),
  );
  expect(lines.every((line) => line.trim().includes("  "))).toBe(true);
  expect(tooWide(stdout)).toEqual([]);
});
