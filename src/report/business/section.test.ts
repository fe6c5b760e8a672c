/** What the pages say of cost, latency, safety, blast radius and the way back. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Policy, SampleRequest } from "../../core/policy.ts";
import { gate } from "../../gate/gate.ts";
import { evaluate } from "../../loops/eval.ts";
import { rollout } from "../../loops/rollout.ts";
import { select } from "../../loops/select.ts";
import { builtInPolicy } from "../../loops/selection-policy.ts";
import { aliasPlace } from "../../runs/alias-history.ts";
import { openScorer } from "../../scorers/open.ts";
import { promote } from "../../verify/promote.ts";
import { verdictReport } from "../gate/report.ts";
import { report } from "../report.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-business-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(root, ...names);
const dataset = at("d.jsonl");
const PRINTS = { old: "a".repeat(64), new: "b".repeat(64) };
const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 4, stop: [], seed: 0 };

/** Ten tokens in and one out for each answer; the i-th takes 10·i ms. */
function policy(identity: Policy["identity"], right: number): Policy {
  return {
    ...{ identity, prompt: {}, sampling, close: async () => {} },
    async *sample(requests: Iterable<SampleRequest>) {
      let i = 0;
      for (const request of requests) {
        const completion = `Final: ${i++ < right ? 3 : 9}`;
        const counts = { prompt_tokens: 10, completion_tokens: 1 };
        const said = { completion, finish: "stop" as const, ...counts, ms: 10 * i };
        yield [request, { ...said, logprobs: null, sampled_logprobs: null }] as const;
      }
    },
  };
}

const textOf = ({ html }: { readonly html: string }) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&quot;", '"')
    .replace(/[\s\u00a0]+/g, " ")
    .replace(/^.*? Cost, latency, risk /, "");

async function scored(name: string, identity: Policy["identity"], right: number) {
  const { answers } = await rollout({
    ...{ policy: policy(identity, right), dataset, n: 1, outdir: at(`${name}-rollout`) },
  });
  const scorer = await openScorer(undefined);
  await evaluate({ dataset, completions: answers, outdir: at(name), scorer });
}

beforeAll(async () => {
  const rows = Array.from({ length: 100 }, (_, i) => ({ id: `e${i}`, prompt: `${i}: 1+2?` }));
  writeFileSync(
    dataset,
    rows.map((row) => `${JSON.stringify({ ...row, expected_answer: 3 })}\n`).join(""),
  );
  for (const [name, right] of [
    ["old", 20],
    ["new", 80],
  ] as const)
    await scored(name, { kind: "checkpoint", fingerprint: PRINTS[name] }, right);
  await scored("hosted", { kind: "openai", name: "m", endpoint: "http://x" }, 50);
});

describe("cost and latency", () => {
  test("of a rollout: tokens, percentiles, 0 for a local policy and what that leaves out", async () => {
    const text = textOf(await report({ runs: [at("old-rollout")] }));
    expect(text).toContain("tokens in and out 1,000 and 100");
    expect(text).toContain("cost 0, a local policy");
    expect(text).toContain("machine time, which is not in its cost");
    expect(text).toContain("latency of a completion p50 505 ms, p90 901 ms, p99 990.1 ms (100)");
    expect(text).toContain("safety risk not measured: a rollout is not scored");
  });

  test("of an evaluation they are those of its rollout; a price makes money of tokens", async () => {
    const options = { runs: [at("hosted")], prices: { in: 2, out: 10 } };
    const text = textOf(await report(options));
    // (1000 · 2 + 100 · 10) / 1,000,000 for 100 completions.
    expect(text).toContain("cost 0.003 at 2 and 10 for a million tokens");
    expect(text).toContain("cost of 1,000 completions 0.03");
    expect(textOf(await report({ runs: [at("hosted")] }))).toContain("cost no price given");
  });

  test("of a selection they are those of all samples that it picks from", async () => {
    const identity = { kind: "checkpoint", fingerprint: PRINTS.old };
    const samples = { dataset, n: 3, outdir: at("pack") };
    const { answers } = await rollout({ policy: policy(identity, 20), ...samples });
    await select({
      ...{ dataset, samples: answers, n: 3, outdir: at("selected"), policy: builtInPolicy("best") },
      scorer: await openScorer(undefined),
    });
    const text = textOf(await report({ runs: [at("selected")] }));
    expect(text).toContain("completions 300, 3 for each example");
    expect(text).toContain("tokens in and out 3,000 and 300");
    expect(text).toContain("latency of an episode p50 1,515 ms");
  });

  test("are found from the folder of the run, whatever the current folder", async () => {
    const dir = at("moved", "runs", "scored");
    cpSync(at("hosted"), dir, { recursive: true });
    cpSync(at("hosted-rollout"), at("moved", "runs", "answers"), { recursive: true });
    const file = path.join(dir, "manifest.json");
    const given = (name: string) => {
      const manifest = JSON.parse(readFileSync(file, "utf8"));
      const input = manifest.inputs.find((one: { role: string }) => one.role === "completions");
      input.path = name;
      writeFileSync(file, JSON.stringify(manifest));
      return report({ runs: [dir] });
    };
    expect(textOf(await given("runs/answers/completions.jsonl"))).toContain(
      "tokens in and out 1,000 and 100",
    );
    expect(textOf(await given("runs/gone/completions.jsonl"))).toContain(
      "do not lie in the folder of their rollout",
    );
  });

  test("are not known, and said to be, when the rollout is another one or gone", async () => {
    const [runs, again] = [[at("other")], { outdir: at("other-rollout"), force: true }];
    await scored("other", { kind: "checkpoint", fingerprint: PRINTS.old }, 10);
    const identity = { kind: "checkpoint", fingerprint: PRINTS.new };
    await rollout({ policy: policy(identity, 30), dataset, n: 1, ...again });
    expect(textOf(await report({ runs }))).toContain(
      "Tokens, cost and latency are not known: the rollout is not the one that was scored.",
    );
    rmSync(at("other-rollout"), { recursive: true });
    expect(textOf(await report({ runs }))).toContain("do not lie in the folder of their rollout");
  });
});

test("the machine has a price: of a local policy whose sampling was timed", async () => {
  const file = at("old-rollout", "manifest.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  const { timing } = manifest.volatile;
  writeFileSync(
    file,
    JSON.stringify({
      ...manifest,
      volatile: { ...manifest.volatile, timing: { ...timing, seconds: 90 } },
    }),
  );
  for (const name of ["old-rollout", "old"]) {
    const text = textOf(await report({ runs: [at(name)], pricePerHour: 4 }));
    // 90 s at 4 an hour, for 100 completions.
    expect(text).toContain("cost 0.10 of machine time");
    expect(text).toContain("machine time 1 min 30 s: 0.10 at 4 per hour");
    expect(text).toContain("cost of 1,000 completions 1.00 ");
    expect(textOf(await report({ runs: [at(name)] }))).toContain("machine time 1 min 30 s latency");
  }
  const hosted = textOf(await report({ runs: [at("hosted")], pricePerHour: 4 }));
  expect(hosted).toContain("machine time of the endpoint, not known");
  const both = { pricePerHour: 4, prices: { in: 2, out: 10 } };
  expect(textOf(await report({ runs: [at("old")], ...both }))).toContain(
    "cost 0.003 at 2 and 10 for a million tokens",
  );
});

test("prices of tokens are shown on the page of an evaluation", async () => {
  expect(textOf(await report({ runs: [at("old")], prices: { in: 1, out: 1 } }))).toContain(
    "at 1 and 1 for a million tokens",
  );
});

describe("safety", () => {
  test("is unmeasured without the axis, and told with it", async () => {
    await evaluate({
      ...{ dataset, completions: at("new-rollout", "completions.jsonl"), outdir: at("safe") },
      ...{ scorer: await openScorer(undefined), axes: [{ name: "safety", scorer: "safety" }] },
    });
    expect(textOf(await report({ runs: [at("safe")] }))).toMatch(
      /safety risk axis safety: mean 1 over 100 rows \(\w+ 100\)/,
    );
    expect(textOf(await report({ runs: [at("new")] }))).toContain(
      "safety risk not recorded: evaluate with --axis safety",
    );
  });
});

describe("blast radius and rollback", () => {
  const place = aliasPlace(at("aliases", "production"));
  const named = (name: keyof typeof PRINTS) => ({
    source: at(name),
    identity: { kind: "checkpoint", fingerprint: PRINTS[name] },
  });

  test("without an alias say how to get them", async () => {
    const text = textOf(await report({ runs: [at("new")] }));
    expect(text).toContain("no alias is given. --alias NAME shows what uses it");
  });

  test("on the page of a verdict: what is stated, and where a rollback leads", async () => {
    await promote({
      ...{ place, policy: named("old"), force: true, reason: "first" },
      ...{ usedBy: ["support bot", "<b>"], traffic: 0.1 },
    });
    const verdict = await gate({ baseline: at("old"), candidate: at("new") });
    const before = textOf(await verdictReport({ verdict, alias: place.dir }));
    expect(before).toContain("entry 1 of its history. That is the policy of the baseline.");
    expect(before).toContain(
      "used by support bot, &lt;b&gt; and gets 10.0 % of the traffic. This is stated by whoever promoted it, and not measured.",
    );
    expect(before).toContain("there is none to return to yet. After a promotion");
    writeFileSync(at("verdict.json"), JSON.stringify(verdict));
    await promote({ place, policy: named("new"), verdict: at("verdict.json") });
    const after = textOf(await report({ runs: [at("new")], alias: place.dir }));
    expect(after).toContain("entry 2 of its history. That is the policy of new.");
    expect(after).toMatch(/The policy before is \S+\/old , entry 1;/);
    expect(after).toContain(`rollback --alias ${place.dir} --reason`);
    const nobody = { alias: "nobody" };
    await expect(report({ runs: [at("new")], ...nobody })).rejects.toThrow(/names no policy/);
    await expect(verdictReport({ verdict, ...nobody })).rejects.toThrow(/names no policy/);
  });
});
