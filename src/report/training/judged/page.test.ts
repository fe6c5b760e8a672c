/** What the page of a run says that a judge rewarded. */

import { beforeAll, expect, test } from "vitest";
import { withRuns } from "../../../../tests/fixtures/training-runs/stories.ts";
import { trainingReport } from "../report.ts";

const IDENTITY = {
  ...{ kind: "judge", name: "judge-model", version: "1", endpoint: "https://judge.example" },
  ...{ rubric: "- Answer <briefly>.\n", rubric_sha256: "a".repeat(64) },
  sampling: { temperature: 0, seed: 3 },
  fingerprint: "f".repeat(64),
};

const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/[\s\u00a0]+/g, " ");

interface Told {
  readonly price?: { readonly prompt: number; readonly completion: number } | null;
  readonly labelled?: boolean;
}

/** A finished run as if a judge had rewarded it, with 80 tasks and 2 dropped groups at each validation. */
async function judgedPage({ price = null, labelled = true }: Told, prices?: object) {
  const workspace = withRuns();
  const lines = (name: string) =>
    workspace
      .read(`good/${name}.jsonl`)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  const manifest = JSON.parse(workspace.read("good/manifest.json"));
  const judge = { dropped_limit: 0.1, price };
  const scorers = [{ role: "reward", identity: IDENTITY }];
  workspace.write("good/manifest.json", JSON.stringify({ ...manifest, judge, scorers }));
  const asked = { "judge/groups": 4, "judge/dropped": 1, "judge/identical": 0 };
  const tokens = { "judge/prompt_tokens": 1000, "judge/completion_tokens": 100 };
  const steps = lines("metrics").map((one) => ({ ...one, ...asked, ...tokens }));
  workspace.jsonl("good/metrics.jsonl", steps);
  const evaluations = lines("evaluations").map((one) => ({
    ...one,
    judge: {
      ...{ win_rate: one.step === 0 ? 0.5 : 0.9, score_mean: 0.8, baseline_mean: 0.3 },
      ...{ groups: 82, dropped: 2, prompt_tokens: 0, completion_tokens: 0 },
    },
    ...(labelled && { labels: { win_rate: 0.5 } }),
  }));
  workspace.jsonl("good/evaluations.jsonl", evaluations);
  const { html } = await trainingReport({
    ...{ runs: [workspace.path("good")], pricePerHour: 36 },
    ...(prices && { prices: prices as { in: number; out: number } }),
  });
  return { html, text: textOf(html), steps: steps.length, evaluations: evaluations.length };
}

let hybrid: Awaited<ReturnType<typeof judgedPage>>;
beforeAll(async () => {
  hybrid = await judgedPage({ price: { prompt: 2, completion: 10 } });
});

test("the six charts of a judged run come first, and all have the same steps", () => {
  const { html } = hybrid;
  const titles = [...html.matchAll(/<svg[^>]*><title>([^<]*)/g)].map(([, title]) => title);
  expect(titles.slice(0, 6)).toEqual([
    ...["Reward in training", "Pass rate on validation", "Win rate against the initial policy"],
    ...["KL to the reference", "Entropy", "Completion length"],
  ]);
  expect(new Set(titles).size, "no chart twice").toBe(titles.length);
  expect(titles).toContain("Judge tokens in training");
});

test("the win rate by the judge has the interval of its verdicts, beside that of the labels", () => {
  const { text } = hybrid;
  // Wilson's interval of 72 of 80.
  expect(text).toContain(
    "Win rate against the initial policy, judge 90.0 % 81.5 to 94.8 %; 80 tasks",
  );
  expect(text).toContain("Win rate against the initial policy, labels");
  expect(text).toMatch(/The judge prefers the policy at step 100 .* by labels/);
});

test("without labels only the judge is said to have measured", async () => {
  const { text } = await judgedPage({ labelled: false });
  expect(text).toContain("there are no labels, so only the judge says so");
  expect(text).not.toContain("Win rate against the initial policy, labels");
  expect(text).not.toContain("win rate by labels");
  expect(text, "nobody gave a price").toContain("judge: dollars not stated");
});

test("the judge is named with its rubric and fingerprint, and dropped groups are counted", () => {
  const { html, text, steps, evaluations } = hybrid;
  expect(text).toContain("judge-model , endpoint https://judge.example");
  expect(text).toContain("f".repeat(64));
  expect(html).toContain("&lt;briefly&gt;");
  const [groups, dropped] = [4 * steps + 82 * evaluations, steps + 2 * evaluations];
  const grouped = (count: number) => count.toLocaleString("en");
  expect(text).toContain(`${grouped(groups)} asked about, ${grouped(dropped)} dropped`);
  expect(text).toContain("limit 10.0 %");
});

test("the cost of the judge stands beside that of training, at the run's price or the page's", async () => {
  const dollars = (text: string) => /judge: dollars (\S+)/.exec(text)?.[1];
  const { text, steps } = hybrid;
  expect(text).toContain(`judge: tokens read ${(1000 * steps).toLocaleString("en")}`);
  expect(dollars(text)).toBe(((steps * (1000 * 2 + 100 * 10)) / 1e6).toFixed(2));
  const given = await judgedPage({}, { in: 20, out: 100 });
  expect(dollars(given.text)).toBe(((steps * (1000 * 20 + 100 * 100)) / 1e6).toFixed(2));
});
