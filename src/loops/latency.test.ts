/** Latency is measured where it is asked for, and is in no file that must be the same again. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Policy, SampleRequest } from "../core/policy.ts";
import { TINY_POLICY } from "../engine/tiny-policy.contract.ts";
import { saveCheckpoint } from "../policy/checkpoint.ts";
import { openEmbeddedPolicy } from "../policy/embedded.ts";
import { LatencyTally } from "./latency-tally.ts";
import { rollout } from "./rollout.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-latency-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(root, ...names);
const dataset = at("d.jsonl");
writeFileSync(dataset, '{"id":"a","prompt":"1+2="}\n{"id":"b","prompt":"3+4="}\n');
const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 4, stop: [], seed: 0 };

async function sampled(policy: Policy, outdir: string) {
  const made = await rollout({ policy, dataset, n: 2, outdir: at(outdir) });
  await policy.close();
  return made;
}

test("a timed rollout has percentiles in its volatile block, and the same answers", async () => {
  await saveCheckpoint(at("policy"), TINY_POLICY);
  const open = (timed: boolean, threads: number) =>
    openEmbeddedPolicy(at("policy"), { sampling, timed, threads });
  const timed = await sampled(await open(true, 1), "timed");
  const plain = await sampled(await open(false, 1), "plain");
  const { timing } = timed.manifest.volatile;
  expect(timing?.completions.n).toBe(4);
  expect(timing?.episodes.n).toBe(2);
  const { p50_ms = 0, p90_ms = 0, p99_ms = 0, max_ms = 0 } = timing?.completions ?? {};
  expect([p50_ms, p90_ms, p99_ms, max_ms]).toEqual(
    [p50_ms, p90_ms, p99_ms, max_ms].sort((a, b) => a - b),
  );
  expect(p50_ms).toBeGreaterThan(0);
  expect(timing?.tokens).toBe(timed.summary.cost.completion_tokens);
  expect(plain.manifest.volatile.timing).toBeUndefined();
  for (const name of ["samples.jsonl", "samples.provenance.json", "summary.json"])
    expect(readFileSync(at("timed", name), "utf8").replaceAll("timed", "plain")).toBe(
      readFileSync(at("plain", name), "utf8"),
    );
});

/** Answers of which the latency is known: 10, 20, 30 and 40 ms; one request after `fail` fails. */
function clockwork(fail: () => boolean): Policy {
  return {
    ...{ identity: { kind: "test" }, prompt: {}, sampling },
    async *sample(requests: Iterable<SampleRequest>) {
      let ms = 0;
      for (const request of requests) {
        ms += 10;
        if (ms > 20 && fail()) throw new Error("the endpoint is gone");
        const said = { completion: "3", finish: "stop", prompt_tokens: 1, completion_tokens: 1 };
        yield [request, { ...said, finish: "stop", logprobs: null, sampled_logprobs: null, ms }];
      }
    },
    close: async () => {},
  };
}

test("an episode is as long as the slowest completion of its example", async () => {
  const { manifest } = await sampled(
    clockwork(() => false),
    "known",
  );
  expect(manifest.volatile.timing?.completions).toMatchObject({ n: 4, p50_ms: 25, max_ms: 40 });
  expect(manifest.volatile.timing?.episodes).toMatchObject({ n: 2, p50_ms: 30, max_ms: 40 });
});

test("a resumed rollout keeps the latencies from before", async () => {
  const policy = clockwork(() => true);
  await expect(rollout({ policy, dataset, n: 2, outdir: at("cut") })).rejects.toThrow("gone");
  const { manifest } = await rollout({
    ...{ policy: clockwork(() => false), dataset, n: 2, outdir: at("cut"), resume: true },
  });
  const { completions, tokens } = manifest.volatile.timing ?? {};
  expect(completions).toMatchObject({ n: 4, mean_ms: 15 });
  expect(tokens).toBe(2);
});

test("percentiles interpolate, and an episode that was measured in part does not count", () => {
  const tally = new LatencyTally();
  for (let ms = 0; ms <= 100; ms++) tally.add([ms]);
  tally.add([5, undefined]);
  const { timing } = tally.record({ tokens: 0, seconds: 0 });
  expect(timing?.completions.n).toBe(102);
  const { n, p50_ms, p90_ms, p99_ms, mean_ms } = timing?.episodes ?? {};
  expect([n, p50_ms, p90_ms, p99_ms, mean_ms]).toEqual([101, 50, 90, 99, 50]);
  expect(new LatencyTally().record({ tokens: 0, seconds: 0 })).toEqual({});
});

test("the turns of an episode wait for each other: their times are added", () => {
  const tally = new LatencyTally();
  tally.addTurns([10, 30, 20]);
  tally.addTurns([5]);
  tally.addTurns([7, undefined]);
  const { timing } = tally.record({ tokens: 0, seconds: 0 });
  expect(timing?.completions.n).toBe(5);
  expect(timing?.episodes).toMatchObject({ n: 2, max_ms: 60, mean_ms: 32.5 });
});
