/** A rollout that was interrupted loses nothing, pays for nothing twice, and shares its folder with nobody. */

import { appendFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rollout } from "../src/loops/rollout.ts";
import { openOpenAiPolicy } from "../src/providers/openai.ts";
import { JOURNAL } from "../src/runs/artifacts.ts";
import { EXIT, expectError, sums, until, type Workspace } from "./cli.ts";
import { FakeEndpoint, KEY } from "./endpoint.ts";
import { args, DONE, fixedFiles, lines, made } from "./rollout-runs.ts";

describe.concurrent("an interrupted rollout", () => {
  /** Killed with some answers journaled and some in flight; the endpoint then behaves again. */
  async function killed(signal: NodeJS.Signals, ...flags: string[]) {
    const [workspace, endpoint] = [sums(60), await FakeEndpoint.start()];
    endpoint.behave = (_, nth) => ({ afterMs: nth < 20 ? nth : 60_000 });
    const { child, finished } = workspace.start(args(...flags), endpoint);
    const journal = () => (workspace.has("r", JOURNAL) ? workspace.read("r", JOURNAL) : "");
    await until(() => journal().split("\n").length > 20, "answers are journaled");
    child.kill(signal);
    const result = await finished;
    expect(result.signal).toBe(signal);
    expect(workspace.has("r/summary.json")).toBe(false);
    endpoint.behave = () => undefined;
    const before = endpoint.asked.splice(0);
    return { workspace, endpoint, result, before };
  }

  /** "id sample" of every answer that the journal holds, and how many distinct. */
  const journaled = (workspace: Workspace) =>
    lines(workspace.read("r", JOURNAL))
      .slice(1)
      .map(({ id, sample }) => `${id} ${sample}`);

  test.each(["1", "3"])("by kill -9, with --n %s: goes on with what is missing", async (n) => {
    const { workspace, endpoint } = await killed("SIGKILL", "--n", n);
    const held = journaled(workspace);
    expect(held.length).toBeGreaterThanOrEqual(15);

    expectError(
      await workspace.run(args("--n", n), endpoint),
      EXIT.usage,
      /unfinished/,
      /--resume/,
    );
    expectError(await workspace.eval("r"), EXIT.usage, /r holds an unfinished rollout/);
    expect(endpoint.asked).toEqual([]);

    // A line that was being written when the process died.
    appendFileSync(workspace.path("r", JOURNAL), '{"answer":{"completion":"Fin');
    const { stdout } = await made(workspace, endpoint, "--n", n, "--resume");
    expect(stdout).toContain(`${held.length} of ${60 * Number(n)} are from an earlier session.`);
    const seeds = endpoint.asked.map(({ body }) => body.seed);
    expect(seeds).toHaveLength(60 * Number(n) - held.length);

    await made(workspace, endpoint, "--n", n, "--outdir", "whole");
    const all = endpoint.asked.slice(seeds.length).map(({ body }) => body.seed);
    expect(new Set(all).size).toBe(60 * Number(n));
    expect(fixedFiles(workspace)).toEqual(fixedFiles(workspace, "whole"));
    expect(workspace.has("r", JOURNAL)).toBe(false);

    const idle = endpoint.asked.length;
    await made(workspace, endpoint, "--n", n, "--resume");
    expect(endpoint.asked.length, "nothing is left to do").toBe(idle);
  });

  test("by Ctrl-C: says that nothing is lost, and goes on", async () => {
    const { workspace, endpoint, result } = await killed("SIGINT");
    expect(result.stderr).toMatch(/interrupted\n {2}.*saved.*--resume/s);
    const held = journaled(workspace).length;
    await made(workspace, endpoint, "--resume");
    expect(endpoint.asked).toHaveLength(60 - held);
  });

  test("is refused when what is asked is not the same, and nothing is asked", async () => {
    const { workspace, endpoint } = await killed("SIGKILL");
    const before = workspace.read("r", JOURNAL);
    workspace.write("s.txt", "Hello.");
    workspace.write("d2.jsonl", workspace.read("d.jsonl").replace("Compute", "Reckon"));
    for (const [flags, names] of [
      [["--n", "2"], /what differs: --n$/m],
      [["--seed", "1"], /what differs: the sampling settings/],
      [["--max-tokens", "65"], /what differs: the sampling settings/],
      [["--policy", "openai:other"], /what differs: the policy/],
      [["--system", "s.txt"], /what differs: the prompt \(--system\)/],
      [["--dataset", "d2.jsonl"], /what differs: the data set$/m],
      [["--dataset", "d2.jsonl", "--n", "2"], /what differs: the data set, --n/],
    ] as const) {
      const result = await workspace.run(args("--resume", ...flags), endpoint);
      expectError(result, EXIT.usage, names, /--force/);
    }
    expect(endpoint.asked).toEqual([]);
    expect(workspace.read("r", JOURNAL)).toBe(before);
    // How fast and for how much is no part of what is asked.
    await made(
      workspace,
      endpoint,
      "--resume",
      "--concurrency",
      "2",
      "--price-in",
      "1",
      "--price-out",
      "1",
    );
  });

  test("whose journal is damaged in the middle is refused, and stays", async () => {
    const { workspace, endpoint } = await killed("SIGKILL");
    const damaged = workspace.read("r", JOURNAL).replace('\n{"answer"', "\n{oops");
    workspace.write(`r/${JOURNAL}`, damaged);
    expectError(await workspace.run(args("--resume"), endpoint), EXIT.data, /journal\.jsonl:2/);
    expect(workspace.read("r", JOURNAL)).toBe(damaged);
  });

  test("can be started over with --force", async () => {
    const { workspace, endpoint } = await killed("SIGKILL");
    await made(workspace, endpoint, "--force");
    expect(endpoint.asked).toHaveLength(60);
  });

  test("by a refusal in the middle keeps what came, and says how to go on", async () => {
    const [workspace, endpoint] = [sums(30), await FakeEndpoint.start()];
    endpoint.behave = (_, nth) =>
      nth === 12 ? { status: 401, body: { error: { message: "key expired" } } } : undefined;
    const result = await workspace.run(args("--concurrency", "3"), endpoint);
    expectError(result, EXIT.usage, /status 401.*key expired/, /OPENAI_API_KEY/, /--resume/);
    const asked = endpoint.asked.splice(0);
    expect(journaled(workspace)).toHaveLength(asked.length - 1);
    endpoint.behave = () => undefined;
    await made(workspace, endpoint, "--resume");
    expect(endpoint.asked).toHaveLength(30 - (asked.length - 1));
  });

  test("by a refusal of the first request leaves nothing behind", async () => {
    const workspace = sums(3);
    const endpoint = await FakeEndpoint.start(() => ({ status: 404 }));
    const result = await workspace.run(args("--outdir", "a/b"), endpoint);
    expectError(result, EXIT.usage, /status 404/, /model/);
    expect(result.stderr).not.toContain("--resume");
    expect(workspace.has("a")).toBe(false);
  });

  test("by an endpoint that goes away in the middle goes on when it is back", async () => {
    const [workspace, endpoint] = [sums(30), await FakeEndpoint.start()];
    endpoint.behave = (_, nth) => (nth < 12 ? undefined : { cut: "before" });
    const options = { dataset: workspace.path("d.jsonl"), n: 1, outdir: workspace.path("r") };
    const policy = await openOpenAiPolicy({
      ...{ model: "tiny", apiKey: KEY, baseUrl: endpoint.url, attempts: 3, backoffMs: 2 },
      sampling: { temperature: 1, top_k: 0, top_p: 1, max_tokens: 64, stop: [], seed: 0 },
    });
    await expect(rollout({ ...options, policy })).rejects.toMatchObject({
      kind: "io",
      message: expect.stringMatching(
        /did not answer .* after 3 attempts: the connection was closed/,
      ),
      hint: expect.stringContaining("--resume"),
    });
    expect(journaled(workspace)).toHaveLength(12);
    endpoint.behave = () => undefined;
    endpoint.asked.splice(0);
    await made(workspace, endpoint, "--resume");
    expect(endpoint.asked).toHaveLength(18);
  });

  test("by an endpoint that is not there is the machine's fault", async () => {
    const workspace = sums(3);
    const endpoint = await FakeEndpoint.start();
    endpoint.stop();
    expectError(await workspace.run(args(), endpoint), EXIT.io, /connection was refused/);
  });
});

describe.concurrent("the folder", () => {
  test("takes one rollout at a time", async () => {
    const [workspace, endpoint] = [sums(4), await FakeEndpoint.start()];
    let go = () => {};
    const after = new Promise<void>((resolve) => {
      go = resolve;
    });
    endpoint.behave = () => ({ after });
    const firstOne = workspace.start(args(), endpoint);
    await until(() => endpoint.asked.length > 0, "the first one asks");
    for (const flag of ["--quiet", "--resume", "--force"]) {
      const second = await workspace.run(args(flag), endpoint);
      expectError(second, EXIT.usage, /being written by another process|unfinished rollout/);
    }
    go();
    expect((await firstOne.finished).code).toBe(EXIT.ok);
    expect(endpoint.asked).toHaveLength(4);
  });

  test("with a finished rollout is replaced only with --force, whole or not at all", async () => {
    const [workspace, endpoint] = [sums(4), await FakeEndpoint.start()];
    await made(workspace, endpoint);
    const before = workspace.snapshot("r");
    expectError(await workspace.run(args(), endpoint), EXIT.usage, /finished rollout/, /--force/);
    endpoint.behave = () => ({ status: 400 });
    const failed = await workspace.run(args("--force", "--n", "2"), endpoint);
    expectError(failed, EXIT.usage, /status 400/);
    expect(workspace.snapshot("r")).toEqual(before);
    endpoint.behave = () => undefined;
    await made(workspace, endpoint, "--force", "--n", "2");
    expect(Object.keys(workspace.snapshot("r")).sort()).toEqual(
      DONE.map((name) => name.replace("completions", "samples")).sort(),
    );
    const changed = await workspace.run(args("--resume", "--n", "3"), endpoint);
    expectError(changed, EXIT.usage, /what differs: --n$/m);
  });

  test("of somebody else is refused", async () => {
    const [workspace, endpoint] = [sums(4), await FakeEndpoint.start()];
    workspace.write("mine/thesis.txt", "x");
    await workspace.prepare("run");
    for (const flags of [[], ["--force"], ["--resume"]]) {
      const foreign = await workspace.run(args("--outdir", "mine", ...flags), endpoint);
      expectError(foreign, EXIT.usage, /mine is not empty/);
      const run = await workspace.run(args("--outdir", "run", ...flags), endpoint);
      expectError(run, EXIT.usage, /run holds an evaluation, which another command wrote/);
    }
    const own = await workspace.run(args("--outdir", "."), endpoint);
    expectError(own, EXIT.usage, /lies in the output folder/);
    expect(endpoint.asked).toEqual([]);
  });
});
