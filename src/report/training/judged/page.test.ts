/** What the page of a run says that a judge rewarded. */

import { beforeAll, expect, test } from "vitest";
import {
  asJudged,
  DROPPED,
  GROUPS,
  JUDGE,
  type JudgedStory,
  STEP_TOKENS,
} from "../../../../tests/fixtures/training-runs/judged.ts";
import { withRuns } from "../../../../tests/fixtures/training-runs/stories.ts";
import { trainingReport } from "../report.ts";

const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/[\s\u00a0]+/g, " ");

async function judgedPage(story: JudgedStory, prices?: { in: number; out: number }) {
  const workspace = withRuns();
  const counted = asJudged(workspace, "good", story);
  const runs = [workspace.path("good")];
  const { html } = await trainingReport({ runs, pricePerHour: 36, prices });
  return { html, text: textOf(html), ...counted };
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
  expect(text, "of the same step, whichever policy was kept").toMatch(
    /judge 90.0 % [^;]*; 80 tasks, step 100 Win rate against the initial policy, labels [^;]*; \d+ tasks, step 100/,
  );
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
  expect(text).toContain(JUDGE.fingerprint);
  expect(html).toContain("&lt;briefly&gt;");
  const total = ({ step, validation }: typeof GROUPS) => step * steps + validation * evaluations;
  const grouped = (count: number) => count.toLocaleString("en");
  expect(text).toContain(
    `${grouped(total(GROUPS))} asked about, ${grouped(total(DROPPED))} dropped`,
  );
  expect(text).toContain("limit 10.0 %");
});

test("the cost of the judge stands beside that of training, at the run's price or the page's", async () => {
  const dollars = (text: string) => /judge: dollars (\S+)/.exec(text)?.[1];
  const { read, written } = STEP_TOKENS;
  const { text, steps } = hybrid;
  const cost = (prompt: number, completion: number) =>
    ((steps * (read * prompt + written * completion)) / 1e6).toFixed(2);
  expect(text).toContain(`judge: tokens read ${(read * steps).toLocaleString("en")}`);
  expect(dollars(text)).toBe(cost(2, 10));
  const given = await judgedPage({}, { in: 20, out: 100 });
  expect(dollars(given.text)).toBe(cost(20, 100));
});
