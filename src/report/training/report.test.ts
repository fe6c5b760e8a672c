/** What the page of a training run says. The page in a browser, and the command, are in tests/. */

import { cpSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { Workspace } from "../../../tests/cli.ts";
import { withRuns } from "../../../tests/fixtures/training-runs/stories.ts";
import { aliasPlace } from "../../runs/alias-history.ts";
import { promote } from "../../verify/promote.ts";
import { report } from "../report.ts";
import { trainingReport } from "./report.ts";

const shared = withRuns();
const page = async (...names: string[]) =>
  (await trainingReport({ runs: names.map((name) => shared.path(name)), pricePerHour: 36 })).html;
/** The text of a page, without its tags. */
const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/[\s\u00a0]+/g, " ");
const titles = (html: string) =>
  [...html.matchAll(/<svg[^>]*><title>([^<]*)/g)].map(([, title]) => title);

test("says at the top how the run ended", async () => {
  const text = async (name: string) => textOf(await page(name));
  expect(await text("good")).toContain("Finished. All 100 steps done. No alarms.");
  expect(await text("bad")).toContain(
    "Stopped by an alarm. The alarm reward_hacking stopped the run at step 100. The policy at step 60 was kept.",
  );
  expect(await text("pairs")).toMatch(/Unfinished\. The run has no summary\.json; .*47 of 60/);
});

test("says when somebody edited the metrics", async () => {
  const workspace = withRuns();
  const edited = workspace.read("good/metrics.jsonl").replace('"reward/min":0', '"reward/min":1');
  workspace.write("good/metrics.jsonl", edited);
  const { html } = await trainingReport({ runs: [workspace.path("good")] });
  expect(textOf(html)).toContain("Warning. Edited after the run wrote it: metrics.jsonl.");
});

test("reckons wins, ties and losses example by example", async () => {
  const workspace = withRuns();
  const evaluation = JSON.parse(workspace.read("good/evaluations.jsonl").split("\n")[0] ?? "");
  const at = (step: number, rewards: (number | null)[]) => ({
    ...{ ...evaluation, step, examples: rewards.length, rewards },
    pass_rate: rewards.filter((reward) => reward === 1).length / 5,
  });
  workspace.jsonl("good/evaluations.jsonl", [
    at(0, [0, 0, 1, 1, 0, null]),
    at(100, [1, 1, 1, 0, 0, 1]),
  ]);
  const { html } = await trainingReport({ runs: [workspace.path("good")] });
  // The quantiles of all 5⁵ resamples of two wins, two ties and a loss.
  expect(textOf(html)).toContain(" 60.0 % 30.0 to 90.0 %; 2 won, 2 tied, 1 lost");
});

test("has a curve for every metric, known or not", async () => {
  const workspace = withRuns();
  const odd = {
    step: 1,
    loss: 1,
    "value/loss": 2,
    "cost/mean": 1,
    "reward/style": 0.5,
    "<b>": 3,
  };
  workspace.jsonl("pairs/metrics.jsonl", [odd, { ...odd, step: 2 }]);
  const { html } = await trainingReport({ runs: [workspace.path("pairs")] });
  expect(titles(html)).toEqual(
    expect.arrayContaining(["Value loss", "Cost", "Reward by scorer", "&lt;b&gt;"]),
  );
  expect(titles(await page("good"))).toEqual(
    expect.arrayContaining(
      ["Reward in training", "Pass rate on validation", "KL to the reference", "Entropy"].concat([
        "Completion length",
        "Gradient norm",
        "Clipped tokens",
        "Learning rate",
      ]),
    ),
  );
  expect(titles(await page("pairs"))).toEqual(
    expect.arrayContaining(["Implicit rewards", "Preference accuracy"]),
  );
});

test("shows turns, cut episodes and tool errors, and whole conversations", async () => {
  const workspace = withRuns();
  const lines = (name: string) =>
    workspace
      .read(`good/${name}.jsonl`)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  const episode = { turns: 2.5, tool_errors: 1, truncated: 0.5, out_of_turns: 0.5, mails: 3 };
  const named = Object.entries(episode).map(([name, value]) => [`episode/${name}`, value]);
  const figures = Object.fromEntries(named);
  workspace.jsonl(
    "good/metrics.jsonl",
    lines("metrics").map((one) => ({ ...one, ...figures })),
  );
  workspace.jsonl(
    "good/evaluations.jsonl",
    lines("evaluations").map((one) => ({ ...one, episode })),
  );
  const messages = [
    { role: "user", content: "who wrote <it>?" },
    { role: "assistant", content: "search" },
    { role: "tool", content: "nothing found" },
    { role: "assistant", content: "nobody" },
  ];
  workspace.jsonl(
    "good/samples.jsonl",
    lines("samples").map((one) => ({ ...one, messages })),
  );
  const { html } = await trainingReport({ runs: [workspace.path("good")] });
  const shown = ["Turns", "Episodes cut short", "Tool errors", "mails"];
  expect(titles(html)).toEqual(expect.arrayContaining(shown));
  expect(textOf(html)).toMatch(
    /2 turns user who wrote &lt;it&gt;\? assistant search tool nothing found assistant nobody/,
  );
  expect(titles(await page("good"))).not.toContain("Turns");
});

test("says from how many rows the KL is, where that is a share of them", async () => {
  const workspace = withRuns();
  const steps = workspace.read("good/metrics.jsonl").trimEnd().split("\n");
  const shared = steps.map((line) => ({ ...JSON.parse(line), "kl/rows": 32 }));
  workspace.jsonl("good/metrics.jsonl", shared);
  workspace.jsonl("good/evaluations.jsonl", []);
  const report = async (...names: string[]) =>
    (await trainingReport({ runs: names.map((name) => workspace.path(name)) })).html;
  const one = await report("good");
  expect(textOf(one)).toMatch(/KL to the reference \S+ k3 of 32 rows, last step; nats per token/);
  expect(textOf(one)).toContain("estimates from 32 rows per step");
  // It is said there, and has no curve of its own.
  expect(titles(one)).not.toContain("kl/rows");
  expect(textOf(await report("good", "bad"))).toContain("some estimates from a share of the rows");
  expect(textOf(await page("good", "bad"))).not.toMatch(/estimates from/);
});

/** The prompts of the runs are arithmetic. */
const BLIND = "not measurable with these prompts";

test("knows the ways to fail", async () => {
  const statuses = (html: string) =>
    [...html.matchAll(/<span class="chip (?:bad|good|open)">([a-z ]+)<\/span><\/td>/g)].map(
      ([, status]) => status,
    );
  expect(statuses(await page("bad"))).toEqual([
    "seen",
    "seen",
    BLIND,
    "not measured",
    "seen",
    BLIND,
    "seen",
  ]);
  const fine = ["not measured", "not seen", BLIND, "not measured", "not seen", BLIND, "not seen"];
  expect(statuses(await page("good"))).toEqual(fine);
  expect(await page("bad")).toMatch(/<a href="#samples-1-\d"><code>val-000\d/);
  expect(textOf(await page("bad"))).toMatch(/not_single_line from \d+\.\d % to 4\d\.\d %/);
});

test("lists alarms in order with their evidence, or says that there is none", async () => {
  const bad = textOf(await page("bad"));
  expect(bad).toMatch(
    /kl_high at step 60 .*limit 0\.4 .*reward_hacking at step 100 stopped the run/,
  );
  expect(textOf(await page("good"))).toContain("Alarms No alarms.");
});

test("says what is known of speed and safety, and what the alias of the policy is", async () => {
  const plainText = textOf(await page("good"));
  expect(plainText).toMatch(/speed of sampling in training [\d.,]+ tokens per second/);
  expect(plainText).toMatch(
    /safety risk safety regression not measurable with these prompts; numbers under/,
  );
  expect(plainText).toContain("Latency of a completion is not measured in training");
  expect(plainText).toContain("--alias NAME shows what uses it");
  const workspace = withRuns();
  const { checkpoint_fingerprint: fingerprint } = JSON.parse(workspace.read("good/summary.json"));
  const identity = { kind: "checkpoint", fingerprint };
  const place = aliasPlace(workspace.path("aliases", "production"));
  const why = { force: true, reason: "first", usedBy: ["support bot"] };
  await promote({ place, policy: { source: workspace.path("good"), identity }, ...why });
  const runs = [workspace.path("good")];
  const named = textOf((await report({ runs, alias: place.dir })).html);
  expect(named).toContain("That is the policy of good.");
  expect(named).toContain("It is used by support bot.");
  await expect(report({ runs, alias: "nobody" })).rejects.toThrow(/names no policy/);
});

test("adds up tokens, seconds and money", async () => {
  const seconds = shared
    .read("good/timing.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .reduce(
      (sum, row) =>
        sum + row.sampling_s + row.scoring_s + row.logprobs_s + row.updating_s + row.evaluating_s,
      0,
    );
  const text = textOf(await page("good"));
  expect(text).toContain(`money ${(seconds / 100).toFixed(2)} `);
  const { html } = await trainingReport({ runs: [shared.path("good")] });
  expect(textOf(html)).toContain("money not stated");
});

test("names the settings that differ", async () => {
  const text = textOf(await page("good", "bad"));
  expect(text).toContain("The runs differ in one setting.");
  expect(text).toContain("settings.kl.coefficient 0.04 0");
});

test("is the same for the same runs, wherever they lie", async () => {
  const copy = new Workspace();
  cpSync(shared.path("bad"), copy.path("deep/bad"), { recursive: true });
  const { html } = await trainingReport({ runs: [copy.path("deep/bad")], pricePerHour: 36 });
  expect(html).toBe(await page("bad"));
});

test("is made of what there is", async () => {
  const workspace = withRuns();
  const optional = ["evaluations", "samples", "alarms", "timing"];
  for (const name of optional) rmSync(workspace.path("bad", `${name}.jsonl`));
  workspace.write("pairs/metrics.jsonl", "");
  for (const name of optional) rmSync(workspace.path("pairs", `${name}.jsonl`));
  const runs = [workspace.path("bad"), workspace.path("pairs")];
  const text = textOf((await trainingReport({ runs })).html);
  expect(text).toContain("No alarms: the run has no alarms.jsonl");
  expect(text).toContain("it has no steps");
  expect(text).toContain("No samples were recorded.");
  expect(textOf((await trainingReport({ runs: runs.slice(1) })).html)).toContain(
    "there are no curves",
  );
});

test("whatever the data says stays text", async () => {
  const workspace = withRuns();
  const evil = "</pre></script><script>alert(1)</script>\u202e\"'><img src=x onerror=alert(1)>";
  const sample = { step: 0, id: evil, prompt: evil, completion: evil, reward: null, code: evil };
  const alarm = { step: 1, alarm: evil, stops: true, message: evil, evidence: { [evil]: [evil] } };
  workspace.jsonl("bad/samples.jsonl", [sample]);
  workspace.jsonl("bad/alarms.jsonl", [alarm]);
  workspace.jsonl("bad/metrics.jsonl", [{ step: 1, [evil]: 1, outcomes: { [evil]: 2 } }]);
  const manifest = JSON.parse(workspace.read("bad/manifest.json"));
  const hostile = { ...manifest, algorithm: evil, settings: { [evil]: evil } };
  workspace.write("bad/manifest.json", JSON.stringify(hostile));
  const { html } = await trainingReport({ runs: [workspace.path("bad"), shared.path("good")] });
  expect(html.split("&lt;script&gt;").length).toBeGreaterThan(10);
  expect(html).not.toMatch(/<(script|img)\b|\u202e/);
});

test("marks the present one of nine cells, and the phases on the curve", async () => {
  const cellOf = (html: string) => /<td aria-current="true">(.*?)<\/td>/.exec(html)?.[1] ?? "";
  const [good, bad] = [await page("good"), await page("bad")];
  expect(textOf(cellOf(good))).toContain("Now here. Healthy.");
  expect(textOf(cellOf(bad))).toContain("Now here. Reward hacking.");
  expect(good.match(/aria-current="true"/g)).toHaveLength(1);
  expect(textOf(good)).toMatch(
    /Mean of the last two validations, against step \d+: validation rises \(\+/,
  );
  expect(good.match(/<th scope="col">reward (rises|is flat|falls)</g)).toHaveLength(3);
  expect(textOf(good)).toMatch(/Phases of the \w+ reward .* initial learning to step \d+, /);
  expect(good).toContain(">refinement</text>");
});

test("an option that the page cannot show is refused, and not ignored", async () => {
  const runs = [shared.path("good")];
  await expect(report({ runs, prices: { in: 1, out: 2 } })).rejects.toThrow(
    /no run here has a judge/,
  );
  expect((await report({ runs, pricePerHour: 36 })).html).toBe(await page("good"));
});

test("a run that went to its end was not ended by an alarm, whatever it was warned of", async () => {
  const workspace = withRuns();
  const summary = JSON.parse(workspace.read("bad/summary.json"));
  const write = (stop: object) =>
    workspace.write("bad/summary.json", JSON.stringify({ ...summary, stop }));
  const html = async () => (await trainingReport({ runs: [workspace.path("bad")] })).html;
  expect(await html()).toContain("stopped the run");
  write({ reason: "all steps done", step: 100, kept: 100 });
  const whole = await html();
  expect(textOf(whole)).toContain("Finished. All 100 steps done.");
  expect(whole).not.toContain("stopped the run");
  expect(textOf(whole)).toContain("reward_hacking at step 100");
  write({ reason: "plateau", message: "No change for 50 steps.", step: 100, kept: 60 });
  expect(textOf(await html())).toContain(
    "Stopped early. At step 100 by the condition stop.plateau. No change for 50 steps. The policy at step 60 was kept.",
  );
});
