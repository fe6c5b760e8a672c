/**
 * `npm run test:openenv`: environments in both directions, with OpenEnv's own programs. Python's
 * clients play what `env serve` serves, and `--env openenv:URL` plays what Python serves.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { rngAt } from "../dist/core/index.js";
import { playScripted } from "../dist/environments/episode.js";
import { openEnvironment } from "../dist/environments/open.js";
import { openPlayable } from "../dist/openenv/index.js";
import { pythons } from "./openenv/python.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const CLI = path.join(HERE, "../dist/cli/bin.js");
const began = performance.now();
const stops = [];
const counts = { passed: 0, failed: 0 };

const python = pythons();
if (!python) {
  console.log("Skipped: no Python of version 3.11 or newer with pip was found.");
  process.exit(process.env.CI ? 1 : 0);
}
console.log(`Python environments ready after ${seconds()} s`);
try {
  // Python takes long to start: its server starts while ours are tried.
  const theirs = startPython(["guess", "careless", "door"]);
  await playedByPython();
  await playedByUs(await theirs);
} finally {
  for (const stop of stops) stop();
}
console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
console.log(`in ${seconds()} s`);
process.exitCode = counts.failed === 0 ? 0 : 1;

async function playedByPython() {
  const rooms = {};
  for (const name of ["twenty48", "tool-calls", "boat-race", "arithmetic"]) {
    rooms[name] = { url: await serveOurs(name), episodes: await episodesOf(name) };
  }
  const report = await openenvValidate(rooms.twenty48.url);
  check("openenv validate --url finds nothing wrong", report.passed === true, report);
  await tools(rooms["tool-calls"].url);
  const played = await py(python.openenv, "play.py", asked(rooms));
  for (const [name, { episodes }] of Object.entries(rooms)) {
    const wanted = episodes.map(({ turns }) => turns);
    const same = isDeepStrictEqual(played[name], wanted);
    check(`GenericEnvClient plays ${name} as we do`, same, played[name] ?? played);
  }
  await taskset(rooms);
}

/** What Python's players need to know. */
function asked(rooms) {
  return Object.fromEntries(
    Object.entries(rooms).map(([name, { url, episodes }]) => [
      name,
      { url, episodes: episodes.map(({ reset, actions }) => ({ reset, actions })) },
    ]),
  );
}

/** Whole episodes with fixed answers: several tasks, seeds and players, played here directly. */
async function episodesOf(name) {
  const { definition } = await openEnvironment(name);
  const { gold, idle } = definition.players;
  return [gold, idle].flatMap((player, which) =>
    [0, 1, 2].map((index) => {
      const seed = 7 * index + which;
      const task = definition.tasks("dev")[index];
      const { turns, actions } = playScripted(definition, task, seed, player);
      return {
        reset: { seed, split: "dev", index },
        actions,
        turns: turns.map(({ observation, reward, end }) => ({
          text: observation.map(({ content }) => content).join(""),
          ...{ reward, done: end !== undefined, code: end?.code ?? null },
        })),
      };
    }),
  );
}

async function taskset({ "tool-calls": _, ...rooms }) {
  // The taskset takes an answer that is JSON for the action itself, and an empty one ends its episode.
  const full = Object.fromEntries(
    Object.entries(rooms).map(([name, { url, episodes }]) => {
      const spoken = ({ actions }) => actions.every((text) => text.trim() !== "");
      return [name, { url, episodes: episodes.filter(spoken) }];
    }),
  );
  const played = await py(python.verifiers, "taskset.py", asked(full));
  for (const [name, { episodes }] of Object.entries(full)) {
    const wanted = episodes.map(({ turns }) => ({
      read: turns.filter(({ done }) => !done).map(({ text }) => text),
      reward: turns.slice(1).reduce((sum, { reward }) => sum + reward, 0),
    }));
    const same = wanted.length > 0 && isDeepStrictEqual(played[name], wanted);
    check(`verifiers' openenv taskset plays ${name} as we do`, same, played[name] ?? played);
  }
}

async function tools(url) {
  const rpc = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    return (await (await fetch(`${url}/mcp`, { method: "POST", headers, body })).json()).result;
  };
  const listed = (await rpc("tools/list", {})).tools.map(({ name }) => name);
  check("MCP tools/list names the tools", listed.includes("read_file"), listed);
  const call = { name: "set_timer", arguments: { minutes: 5 } };
  const called = await rpc("tools/call", call);
  check("MCP tools/call takes a call", called?.structuredContent?.done === true, called);
}

async function playedByUs({ guess, careless, door }) {
  const warnings = [];
  const open = (url) => openPlayable(`openenv:${url}#solved=1`, (one) => warnings.push(one));
  const sound = await open(guess);
  const { seeds } = sound.environment.identity.remote;
  check("a Python server that honours seeds is known by it", seeds === "honoured", seeds);
  const ends = [];
  for (const task of await sound.tasks("train")) ends.push(await guessed(sound.environment, task));
  check(
    "our loop plays its episodes: rewards, ends and truncation",
    isDeepStrictEqual(
      ends.map(({ code, reward }) => [code, reward]),
      ends.map(() => ["solved", 1]),
    ) && ends.length === 5,
    ends,
  );
  const [task] = await sound.tasks("dev");
  const late = await guessed(sound.environment, task, () => "100");
  check("truncation is not an end", late.code === "truncated" && late.terminated === false, late);
  const wrong = await guessed(sound.environment, task, () => "fifty");
  check("an answer that is no number is no zero", wrong.reward === null, wrong);
  await sound.close();

  const other = await open(careless);
  check(
    "a Python server that drops seeds is found out",
    other.environment.identity.remote.seeds === "dropped" && warnings.length === 1,
    warnings,
  );
  await other.close();

  const tooled = await open(door);
  const names = tooled.tools.map(({ name }) => name);
  check(
    "its tools are offered",
    isDeepStrictEqual(names.sort(), ["open_door", "read_note"]),
    names,
  );
  const [first] = await tooled.tasks("dev");
  let turn = await tooled.environment.reset(first, rngAt(1));
  const read = [];
  for (const call of [
    { tool: "read_note", arguments: {} },
    { tool: "open_door", arguments: { word: "please" } },
    { tool: "open_door", arguments: { word: "sesame" } },
  ]) {
    const action = { text: JSON.stringify(call) };
    [turn] = await tooled.environment.step([{ state: turn.state, action }]);
    read.push(turn.observation[0]?.content.trim());
  }
  check(
    "its tools are called, and the last call ends the episode",
    isDeepStrictEqual(read, ["the word is sesame", "still shut", "open"]) &&
      turn.reward === 1 &&
      turn.end?.code === "solved",
    { read, turn: { ...turn, state: null } },
  );
  await tooled.close();
}

/** By halving, unless another player is given. */
async function guessed(environment, task, player) {
  let [low, high] = [0, 99];
  let turn = await environment.reset(task, rngAt(3, task.id));
  let reward = turn.reward;
  while (!turn.end) {
    const guess = Math.floor((low + high) / 2);
    const action = { text: player ? player() : String(guess) };
    [turn] = await environment.step([{ state: turn.state, action }]);
    reward = reward === null || turn.reward === null ? null : reward + turn.reward;
    const hint = turn.observation[0]?.content.trim();
    if (hint === "too low") low = guess + 1;
    if (hint === "too high") high = guess - 1;
  }
  return { ...turn.end, reward };
}

async function serveOurs(name) {
  const child = spawn(process.execPath, [CLI, "env", "serve", name, "--port", "0"]);
  stops.push(() => child.kill("SIGTERM"));
  const [text] = await once(child.stdout, "data");
  child.stdout.resume();
  return String(text).split("\n")[0];
}

async function startPython(kinds) {
  const ports = Object.fromEntries(
    await Promise.all(kinds.map(async (kind) => [kind, await freePort()])),
  );
  const args = kinds.map((kind) => `${kind}:${ports[kind]}`);
  const child = spawn(python.openenv, [path.join(HERE, "openenv/server.py"), ...args], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  stops.push(() => child.kill("SIGTERM"));
  const urls = kinds.map((kind) => [kind, `http://127.0.0.1:${ports[kind]}`]);
  for (const [kind, url] of urls) {
    while (!(await fetch(`${url}/health`).catch(() => undefined))) {
      if (child.exitCode !== null) throw new Error(`Python's server of ${kind} did not start`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  return Object.fromEntries(urls);
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function openenvValidate(url) {
  const program = path.join(path.dirname(python.openenv), "openenv");
  const { stdout, stderr } = await finished(program, ["validate", "--url", url, "--json"]);
  try {
    return JSON.parse(stdout);
  } catch {
    return { stdout, stderr };
  }
}

async function py(interpreter, script, input) {
  const file = path.join(HERE, "openenv", script);
  const { code, stdout, stderr } = await finished(interpreter, [file], JSON.stringify(input));
  if (code !== 0) return { failed: stderr.split("\n").slice(-12).join("\n") };
  return JSON.parse(stdout);
}

async function finished(program, args, input = "") {
  const child = spawn(program, args);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      output[name] += text;
    });
  }
  child.stdin.end(input);
  const [code] = await once(child, "close");
  return { code, ...output };
}

function check(what, holds, seen) {
  counts[holds ? "passed" : "failed"]++;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}`);
  if (!holds) console.log(JSON.stringify(seen, undefined, 2)?.slice(0, 4000));
}

function seconds() {
  return ((performance.now() - began) / 1000).toFixed(0);
}
