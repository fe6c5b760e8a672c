/** `rollout` against an endpoint on this machine: what it writes, what it never loses or tells. */

import { describe, expect, test } from "vitest";
import { completionSchema, selectionPackSchema } from "../src/runs/record-schemas.ts";
import { rolloutManifestSchema, rolloutSummarySchema } from "../src/runs/rollout-schemas.ts";
import { provenanceSchema } from "../src/runs/schemas.ts";
import { absent, describeRun, EXIT, expectError, gate, sums } from "./cli.ts";
import { type Behaviour, chat, FakeEndpoint, KEY } from "./endpoint.ts";
import { args, DONE, fixedFiles, lines, made } from "./rollout-runs.ts";
import { expectRunNote } from "./run-notes.ts";

describe.concurrent("a rollout", () => {
  test("of one completion each: the rows, the provenance, the manifest, the summary", async () => {
    const [workspace, endpoint] = [sums(30), await FakeEndpoint.start()];
    workspace.write("system.txt", "Be brief.\n");
    const { stdout } = await made(
      workspace,
      endpoint,
      ...["--system", "system.txt", "--temperature", "0.5", "--stop", "END", "\n\n"],
      ...["--price-in", "2", "--price-out", "8"],
    );
    expect(stdout).toMatch(/Sampled one completion for each of 30 examples from openai:tiny/);
    expect(stdout).toMatch(/tokens: 300 in, 90 out\n.*cost: 0\.0013 /);
    expect(Object.keys(workspace.snapshot("r")).sort()).toEqual(DONE);

    const rows = lines(workspace.read("r/completions.jsonl"));
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, i) => `s${i}`));
    for (const row of rows) completionSchema.parse(row);
    expect(rows[3]).toEqual({
      id: "s3",
      completion: expect.stringMatching(/^Final: [67]$/),
      sum_logprob: -0.875,
      logprobs: [-0.5, -0.25, -0.125],
      prompt_tokens: 10,
      completion_tokens: 3,
      finish: "stop",
      prompt_fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
    });

    const manifest = rolloutManifestSchema.parse(JSON.parse(workspace.read("r/manifest.json")));
    const provenance = provenanceSchema.parse(
      JSON.parse(workspace.read("r/completions.provenance.json")),
    );
    const asked = {
      policy: { kind: "openai", name: "tiny", endpoint: endpoint.url },
      prompt: { form: "chat messages", system_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      sampling: {
        ...{ temperature: 0.5, top_p: 1, top_k: 0, max_tokens: 64, seed: 0 },
        stop: ["END", "\n\n"],
      },
    };
    expect(manifest).toMatchObject({ n: 1, examples: { count: 30 }, ...asked });
    expect(provenance).toMatchObject({ ...asked, prompts_by_row: true });
    // Nobody counts the tries of an endpoint, or knows what it was trained on.
    for (const record of [manifest, provenance]) {
      expect(record).toMatchObject({ exposure: null, seeds_tried: null });
    }
    const summary = rolloutSummarySchema.parse(JSON.parse(workspace.read("r/summary.json")));
    expect(summary).toMatchObject({
      n_answers: 30,
      n_with_logprobs: 30,
      finish: { stop: 30 },
      cost: { prompt_tokens: 300, completion_tokens: 90, n_uncounted: 0, total: 0.00132 },
      files: { "completions.jsonl": provenance.completions_sha256 },
    });
    expectRunNote(
      workspace.read("r/README.md"),
      ...["30 answers to 30 examples", "90 written", '"temperature":0.5', "`s0` → `stop`: saw"],
      ...[manifest.inputs[0]?.sha256 as string, "policy: "],
    );
  });

  test("then eval, then the gate: one knob, the policy", async () => {
    const workspace = sums(200);
    const endpoint = await FakeEndpoint.start(({ prompt, body }) =>
      body.model === "better"
        ? { body: chat(`Final: ${2 * Number(/\d+/.exec(prompt)?.[0])}`) }
        : undefined,
    );
    await made(workspace, endpoint);
    await made(workspace, endpoint, "--policy", "openai:better", "--outdir", "better");
    for (const name of ["r", "better"]) {
      const { manifest, summary } = await workspace.made(`${name}-scored`, [
        ...["--completions", `${name}/completions.jsonl`],
      ]);
      expect(manifest.policy?.kind).toBe("openai");
      expect(manifest.sampling?.max_tokens).toBe(64);
      expect(summary.metrics.n_missing).toBe(0);
    }
    const verdict = await gate(workspace, "r-scored", "better-scored");
    expect(verdict).toMatchObject({ code: 0, decision: "PROMOTE", knobs: ["policy"] });

    await made(workspace, endpoint, "--outdir", "hot", "--temperature", "2");
    await workspace.made("hot-scored", ["--completions", "hot/completions.jsonl"]);
    const refused = await gate(workspace, "r-scored", "hot-scored");
    expect(refused.codes).toContain("sampling_differs");
  });

  test("of several each: a pack that selection-demo takes", async () => {
    const [workspace, endpoint] = [sums(20), await FakeEndpoint.start()];
    const { stdout } = await made(workspace, endpoint, "--n", "4");
    const packs = lines(workspace.read("r/samples.jsonl"));
    for (const pack of packs) expect(selectionPackSchema.parse(pack).samples).toHaveLength(4);
    expect(new Set(endpoint.asked.map(({ body }) => body.seed)).size).toBe(80);
    expect(packs.some(({ samples }) => samples[0].completion !== samples[1].completion)).toBe(true);
    expect(workspace.has("r/completions.jsonl")).toBe(false);

    const next = /^Next: \S+ (.*)$/m.exec(stdout.replaceAll(" \\\n  ", " "))?.[1]?.split(" ") ?? [];
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const selection = await workspace.run(next);
    expect(selection, describeRun(selection)).toMatchObject({ code: EXIT.ok, stderr: "" });
    const { manifest, summary } = workspace.readRun("r-scored");
    expect(manifest.policy?.name).toBe("tiny");
    expect(summary.metrics.n_short_packs).toBe(0);
  });

  test("is the same bytes again, whatever the concurrency and the speed of answers", async () => {
    const [workspace, endpoint] = [sums(40), await FakeEndpoint.start()];
    await made(workspace, endpoint, "--n", "3");
    endpoint.behave = (_, nth) => ({ afterMs: (nth * 7) % 30 });
    await made(workspace, endpoint, "--n", "3", "--outdir", "again", "--concurrency", "32");
    expect(fixedFiles(workspace, "again")).toEqual(fixedFiles(workspace));
    await made(workspace, endpoint, "--n", "3", "--outdir", "other", "--seed", "1");
    expect(workspace.read("other/samples.jsonl")).not.toBe(workspace.read("r/samples.jsonl"));
  });

  test("of a data set that is read in several pieces is in its order", async () => {
    const [workspace, endpoint] = [sums(1), await FakeEndpoint.start()];
    const ids = Array.from({ length: 700 }, (_, i) => `s${(i * 331) % 700}`);
    const prompt = (id: string) => `${id.slice(1)} + 1 ${"x".repeat(1000)}`;
    workspace.jsonl(
      "d.jsonl",
      ids.map((id) => ({ id, prompt: prompt(id) })),
    );
    endpoint.behave = (_, nth) => ({ afterMs: nth % 3 });
    await made(workspace, endpoint, "--n", "2", "--concurrency", "64");
    const packs = lines(workspace.read("r/samples.jsonl"));
    expect(packs.map(({ id }) => id)).toEqual(ids);
    expect(packs[17].samples[1].completion).toMatch(/^Final: /);
  });

  test("keeps answers of every kind as what they are, and eval takes them", async () => {
    const workspace = sums(5);
    const kinds = [
      chat(""),
      chat(null, { finish_reason: "content_filter" }),
      chat(null, { message: { content: null, refusal: "I will not." } }),
      chat("Final: 6", { finish_reason: "length" }, { usage: undefined }),
    ];
    const endpoint = await FakeEndpoint.start(({ prompt }) => ({
      body: kinds[Number(/\d+/.exec(prompt)?.[0])] ?? chat("Final: 8"),
    }));
    const { stdout } = await made(workspace, endpoint, "--price-in", "1", "--price-out", "1");
    expect(stdout).toMatch(/cost: at least /);
    expect(lines(workspace.read("r/completions.jsonl"))).toEqual([
      expect.objectContaining({ completion: "", finish: "stop" }),
      expect.objectContaining({ completion: "", finish: "content_filter" }),
      expect.objectContaining({ completion: "", refusal: "I will not." }),
      expect.objectContaining({ finish: "length", prompt_tokens: null, completion_tokens: null }),
      {
        ...{ id: "s4", completion: "Final: 8", finish: "stop", prompt_tokens: 10 },
        ...{ completion_tokens: 3, prompt_fingerprint: expect.any(String) },
      },
    ]);
    expect(JSON.parse(workspace.read("r/summary.json"))).toMatchObject({
      ...{ n_empty: 3, n_refused: 1, n_with_logprobs: 0 },
      finish: { stop: 3, content_filter: 1, length: 1 },
      cost: { n_uncounted: 1, completion_tokens: 12 },
    });
    await workspace.made("scored", ["--completions", "r/completions.jsonl"]);
  });

  test("says it when the endpoint has no log-probs", async () => {
    const workspace = sums(3);
    const endpoint = await FakeEndpoint.start(({ body }) =>
      body.logprobs
        ? { status: 400, body: { error: { message: "unknown: logprobs" } } }
        : undefined,
    );
    const { stdout } = await made(workspace, endpoint);
    expect(stdout).toMatch(/! The endpoint does not support logprobs/);
    expect(workspace.read("r/completions.jsonl")).not.toContain("logprob");
  });

  test("loads nothing of the engine", async () => {
    const [workspace, endpoint] = [sums(2), await FakeEndpoint.start()];
    const without = absent(workspace, /onnxruntime|policy\/|graph\//);
    const result = await workspace.run(args(), { env: { ...endpoint.env, ...without } });
    expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
  });
});

describe.concurrent("the key", () => {
  const echoes: [name: string, Behaviour][] = [
    [
      "in an error",
      (_, nth) => (nth > 5 ? { status: 401, body: { error: { message: KEY } } } : undefined),
    ],
    ["in every answer", () => ({ body: chat(`Bearer ${KEY}`) })],
    ["in a refusal", () => ({ body: chat(null, { message: { content: null, refusal: KEY } }) })],
    ["as the reason", () => ({ body: chat("x", { finish_reason: KEY }) })],
  ];
  test.each(echoes)("is written nowhere when the endpoint repeats it %s", async (_, behave) => {
    const [workspace, endpoint] = [sums(10), await FakeEndpoint.start(behave)];
    const result = await workspace.run(args("--concurrency", "2"), {
      env: { ...endpoint.env, OPENAI_LOG: "debug" },
    });
    const files = workspace.snapshot(".");
    const everything = JSON.stringify([result.stdout, result.stderr, files]);
    expect(Object.keys(files).some((name) => name.startsWith("r/"))).toBe(true);
    expect(everything).not.toContain(KEY.slice(3, 16));
    expect(everything, "it was there to be hidden").toContain("[key removed]");
    expect(endpoint.asked[0]?.headers.authorization).toContain(KEY);
  });

  test("is missing or cannot be sent: the variable is named", async () => {
    const [workspace, endpoint] = [sums(2), await FakeEndpoint.start()];
    const { OPENAI_BASE_URL = "" } = endpoint.env;
    expectError(
      await workspace.run(args(), { env: { OPENAI_BASE_URL } }),
      EXIT.usage,
      /OPENAI_API_KEY is not set/,
    );
    const odd = await workspace.run(args(), {
      env: { OPENAI_BASE_URL, OPENAI_API_KEY: "se cret-one" },
    });
    expectError(odd, EXIT.usage, /OPENAI_API_KEY contains an invalid character/);
    expect(odd.stderr).not.toContain("cret-one");
    const url = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "http://u:pass-word@127.0.0.1/v1" };
    const address = await workspace.run(args(), { env: url });
    expectError(address, EXIT.usage, /OPENAI_BASE_URL must not contain a user/);
    expect(address.stderr).not.toContain("pass-word");
    expect(workspace.has("r")).toBe(false);
  });
});

describe.concurrent("mistakes", () => {
  test.each<[flags: string[], code: number, ...says: RegExp[]]>([
    [["--n", "0"], EXIT.usage, /whole number from 1/],
    [["--temperature", "-1"], EXIT.usage, /number from 0/],
    [["--temperature", "warm"], EXIT.usage, /number from 0/],
    [["--top-p", "0"], EXIT.usage, /above 0 and up to 1/],
    [["--top-p", "1.1"], EXIT.usage, /above 0 and up to 1/],
    [["--top-k", "2.5"], EXIT.usage, /whole number/],
    [["--max-tokens", "0"], EXIT.usage, /whole number from 1/],
    [["--concurrency", "0"], EXIT.usage, /1 to 256/],
    [["--stop", ""], EXIT.usage, /not be empty/],
    [["--price-in", "1"], EXIT.usage, /--price-in and --price-out must be given together/],
    [["--price-in", "-1", "--price-out", "1"], EXIT.usage, /price/],
    [["--policy", "openai:"], EXIT.usage, /has no model name/],
    [
      ["--policy", "anthropic:claude"],
      EXIT.usage,
      /unknown kind of policy: anthropic:/,
      /openai:MODEL/,
    ],
    [["--system", "none.txt"], EXIT.data, /none\.txt.*no such file/],
    [["--system", "latin1.txt"], EXIT.data, /not valid UTF-8/],
    [["--dataset", "none.jsonl"], EXIT.data, /none\.jsonl.*no such file/],
    [["--dataset", "empty.jsonl"], EXIT.data, /empty\.jsonl is empty/],
    [["--dataset", "twice.jsonl"], EXIT.data, /"a" appears more than once/],
    [["--dataset", "late.jsonl"], EXIT.data, /late\.jsonl:3/],
  ])("%j: a sentence, and nothing is asked", async (flags, code, ...says) => {
    const [workspace, endpoint] = [sums(2), await FakeEndpoint.start()];
    workspace.write("empty.jsonl", "\n");
    workspace.jsonl(
      "twice.jsonl",
      [1, 2].map((n) => ({ id: "a", prompt: `${n}` })),
    );
    workspace.write("late.jsonl", `${workspace.read("d.jsonl")}{oops\n`);
    workspace.write("latin1.txt", Buffer.from([0xe9, 0x20]));
    expectError(await workspace.run(args(...flags), endpoint), code, ...says);
    expect(endpoint.asked).toEqual([]);
    expect(workspace.has("r")).toBe(false);
  });

  test("the package is not installed: one sentence says what to install", async () => {
    const [workspace, endpoint] = [sums(2), await FakeEndpoint.start()];
    const env = { ...endpoint.env, ...absent(workspace, /^openai$/) };
    expectError(await workspace.run(args(), { env }), EXIT.usage, /npm install openai@6/);
  });

  test("ids of every kind are data", async () => {
    const [workspace, endpoint] = [sums(1), await FakeEndpoint.start()];
    const ids = ["__proto__", "constructor", "a\nb", "\u001b[31m", "\ud800", "0 s0", "s0"];
    workspace.jsonl(
      "d.jsonl",
      ids.map((id, i) => ({ id, prompt: `${i} + ${i}`, expected_answer: 2 * i })),
    );
    await made(workspace, endpoint, "--n", "2");
    expect(lines(workspace.read("r/samples.jsonl")).map(({ id }) => id)).toEqual(ids);
  });
});
