/**
 * A rollout in an environment that was killed goes on where it was; one that hangs is cut off; an
 * endpoint is told the rules.
 */

import { describe, expect, test } from "vitest";
import { fingerprint } from "../src/core/fingerprint.ts";
import { type AnyDefinition, EMBEDDED } from "../src/environments/catalogue.ts";
import { JOURNAL } from "../src/runs/artifacts.ts";
import { describeRun, EXIT, expectError, until, Workspace } from "./cli.ts";
import { type Asked, type Behaviour, chat, FakeEndpoint } from "./endpoint.ts";
import { fixedFiles, lines } from "./rollout-runs.ts";

const args = (...flags: string[]) => [
  ...["rollout", "--env", "twenty48", "--policy", "openai:tiny", "--n", "2", "--tasks", "10"],
  ...(flags.includes("--outdir") ? [] : ["--outdir", "r"]),
  ...flags,
];

/** A move that depends on the seed alone, as a good endpoint's does. */
const moves: Behaviour = ({ body }) => ({
  body: chat(`<move>${["left", "right", "up", "down"][Number(body.seed) % 4]}</move>`),
});

async function made(workspace: Workspace, endpoint: FakeEndpoint, ...flags: string[]) {
  const result = await workspace.run(args(...flags), endpoint);
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
  return result;
}

describe("killed with -9 in the middle of its games", () => {
  test("it plays only what had not ended, and the bytes are those of a whole run", async () => {
    const [workspace, endpoint] = [new Workspace(), await FakeEndpoint.start(moves)];
    endpoint.behave = (asked, nth) => ({ ...moves(asked, nth), afterMs: nth < 700 ? 0 : 60_000 });
    const { child, finished } = workspace.start(args(), endpoint);
    const journal = () => (workspace.has("r", JOURNAL) ? workspace.read("r", JOURNAL) : "");
    await until(() => journal().split("\n").length > 4, "episodes are journaled");
    child.kill("SIGKILL");
    expect((await finished).signal).toBe("SIGKILL");
    const whole = journal().slice(0, journal().lastIndexOf("\n") + 1);
    const held = lines(whole).slice(1);
    expect(held.length).toBeGreaterThan(1);
    endpoint.behave = moves;
    const before = endpoint.asked.splice(0);

    expectError(await workspace.run(args(), endpoint), EXIT.usage, /unfinished/, /--resume/);
    expect(endpoint.asked).toEqual([]);
    const { stdout } = await made(workspace, endpoint, "--resume");
    expect(stdout).toContain(`${held.length} of 20 are from an earlier session.`);

    const after = endpoint.asked.splice(0);
    await made(workspace, endpoint, "--outdir", "whole");
    expect(fixedFiles(workspace)).toEqual(fixedFiles(workspace, "whole"));
    expect(workspace.has("r", JOURNAL)).toBe(false);
    // No turn of an episode that had ended was asked for again.
    const seeds = new Set(after.map(({ body }) => body.seed));
    const paid = held.reduce((sum, { trajectory }) => sum + trajectory.metrics.turns, 0);
    expect(seeds.size).toBe(endpoint.asked.length - paid);
    expect(before.length).toBeGreaterThanOrEqual(paid);
  });
});

test("an environment that hangs costs its own episode only", async () => {
  const [workspace, endpoint] = [new Workspace(), await FakeEndpoint.start(moves)];
  workspace.write(
    "stuck.ts",
    `export default {
      name: "stuck", version: "1", spec: "Say anything.", codes: ["done"], solved: ["done"],
      rewards: [0, 1], maxTurns: 3, random: false,
      tasks: () => [1, 2, 3, 4].map((i) => ({ id: \`t\${i}\`, prompt: \`p\${i}\` })),
      reset: ({ id, prompt }) => ({ state: id, observation: [{ role: "user", content: prompt }], reward: 0 }),
      step: (state) => {
        while (state === "t3") {}
        return { state, observation: [], reward: 1, end: { code: "done", terminated: true, details: {} } };
      },
      players: { idle: () => "" },
      ansi: () => "",
    };`,
  );
  const flags = ["--policy", "openai:tiny", "--n", "1", "--outdir", "r"];
  const result = await workspace.run(["rollout", "--env", "stuck.ts", ...flags], endpoint);
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
  expect(result.stdout).toMatch(/1 of 4 episodes failed \(environment_error 1\)/);
  expect(result.stdout).toContain("pass rate: 100.0 % (3 of 3 episodes solved)");
  expect(lines(workspace.read("r", "failures.jsonl"))).toEqual([
    {
      ...{ id: "t3", sample: 0, type: "environment_error" },
      message: "it did not answer within 2 s",
    },
  ]);
  const strict = await workspace.run(
    ["rollout", "--env", "stuck.ts", ...flags.slice(0, -1), "s", "--max-failures", "0"],
    endpoint,
  );
  expectError(strict, EXIT.data, /1 episode failed and --max-failures allows 0/, /--resume/);
});

describe("the rules of the environment", () => {
  const { spec } = (EMBEDDED.get("twenty48") as { definition: AnyDefinition }).definition;
  const systemOf = ({ body }: Asked) =>
    body.messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const systemsOf = ({ asked }: FakeEndpoint) => [
    ...new Set(asked.map((one) => JSON.stringify(systemOf(one)))),
  ];
  const small = ["--n", "1", "--tasks", "2"];

  test("are an endpoint's system prompt in every turn, and in the manifest", async () => {
    const [workspace, endpoint] = [new Workspace(), await FakeEndpoint.start(moves)];
    await made(workspace, endpoint, ...small);
    expect(systemsOf(endpoint)).toEqual([JSON.stringify([spec])]);
    expect(JSON.parse(workspace.read("r/manifest.json")).prompt).toMatchObject({
      system_sha256: fingerprint(spec),
    });
    const [first] = workspace.read("r/trajectories.jsonl").split("\n");
    expect(JSON.parse(first ?? "").messages[0]).toEqual({ role: "system", content: spec });
  });

  test("give way to --system", async () => {
    const [workspace, endpoint] = [new Workspace(), await FakeEndpoint.start(moves)];
    workspace.write("own.txt", "Play well.");
    await made(workspace, endpoint, ...small, "--system", "own.txt");
    expect(systemsOf(endpoint)).toEqual([JSON.stringify(["Play well."])]);
  });

  test("are not read by a checkpoint", async () => {
    const workspace = new Workspace();
    const flags = ["--n", "1", "--tasks", "2", "--max-tokens", "8", "--outdir", "r"];
    const result = await workspace.run([
      "rollout",
      "--env",
      "arithmetic",
      "--policy",
      "pi0",
      ...flags,
    ]);
    expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
    const [first] = workspace.read("r/trajectories.jsonl").split("\n");
    const roles = JSON.parse(first ?? "").messages.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(["user", "assistant"]);
  });
});
