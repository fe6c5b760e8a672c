/** What the pages about runs say. Pages in a browser, and the command, are in tests/. */

import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { RAW_CONTROL } from "../../tests/cli.ts";
import { EXAMPLES, HOSTILE, reportFolder } from "../../tests/fixtures/report-runs.ts";
import type { Scorer } from "../core/score.ts";
import { evaluate } from "../loops/eval.ts";
import { writeVerification } from "../runs/verification.ts";
import { verify } from "../verify/verify.ts";
import { report } from "./report.ts";

const folder = reportFolder();
const pageOf = async (...runs: string[]) => (await report({ runs })).html;
const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replace(/[\s\u00a0]+/g, " ");
const count = (html: string, pattern: RegExp) => html.match(pattern)?.length ?? 0;

let copies = 0;
/** A copy to damage. */
function copyOf(run: string): string {
  const copy = folder.path(`copy-${copies++}`);
  cpSync(run, copy, { recursive: true });
  return copy;
}

function edit(file: string, from: string | RegExp, to: string): void {
  const before = readFileSync(file, "utf8");
  const after = before.replace(from, to);
  expect(after).not.toBe(before);
  writeFileSync(file, after);
}

const runs = { half: "", more: "", selection: "", samples: "", pairs: "" };
beforeAll(async () => {
  runs.half = await folder.evaluated("half", 20);
  runs.more = await folder.evaluated("more", 30);
  runs.selection = await folder.selected("selection", 2);
  runs.samples = await folder.sampled("samples", 4);
  runs.pairs = await folder.paired("pairs", runs.samples);
});

describe("an evaluation", () => {
  test("is told by its rows: rate, interval, outcomes, reasons", async () => {
    const html = await pageOf(runs.half);
    const text = textOf(html);
    // 19 of 40: the second answer is hostile text.
    expect(text).toContain("Pass rate 47.5 %");
    expect(text).toContain("19 of 40");
    expect(text).toContain("wrong_answer 20 50.0 %");
    expect(text).toContain("The first 10 of 20 rows are shown.");
    expect(text).toContain("parsed as -7");
    expect(html).not.toContain("Warning.");
  });

  test("of several samples for each example warns of nothing, unless a row is gone", async () => {
    const samples = Array.from({ length: 8 }, (_, i) => ({
      ...{ id: `r${i}`, prompt: `Compute ${i}.`, expected_answer: i, topic: i < 4 ? "a" : "b" },
      samples: [`Final: ${i}`, "Final: -9"],
    }));
    const run = async (name: string, slice?: string[]) => {
      const outdir = folder.path(name);
      await evaluate({ dataset: samples, completions: samples, outdir, repeats: 2, slice });
      return outdir;
    };
    const [one, two] = [await run("repeated", ["topic"]), await run("repeated-again", ["topic"])];
    const html = await pageOf(one);
    expect(html).not.toContain("Warning.");
    expect(html).not.toContain("Further metrics");
    const text = textOf(html);
    expect(text).toContain("Rows 16 2 samples of 8 examples; 16 scored");
    expect(text).toContain("r0 sample 2 parsed as -9");
    expect(text).toContain("a 8 50.0 % ");
    expect(textOf(await pageOf(one, two)), "a column for each run").toMatch(
      /topic repeated repeated-again a 50\.0 % [^;]+; 4 of 8 50\.0 %/,
    );
    const short = copyOf(one);
    edit(path.join(short, "results.jsonl"), /[^\n]*\n$/, "");
    expect(textOf(await pageOf(short))).toContain("The manifest states 16 rows, not 15.");
  });

  test("shows hostile text as text, and what is invisible", async () => {
    const html = await pageOf(runs.half);
    expect(html).not.toMatch(/<script|<img/);
    expect(html).toContain("&lt;script&gt;document.title");
    expect(html).toContain("⟨U+200B⟩");
    expect(html).toContain("⟨U+202E⟩");
    expect(html).toContain("⟨U+0456⟩");
    expect(html).toContain("⟨U+001B⟩");
  });

  test("is the same bytes again", async () => {
    expect(await pageOf(runs.half, runs.more)).toBe(await pageOf(runs.half, runs.more));
  });

  test("shares a page with another: columns, intervals, differing settings", async () => {
    const text = textOf(await pageOf(runs.half, runs.more));
    expect(text).toContain("Evaluation report: half, more");
    expect(text).toContain("Pass rates");
    expect(text).toMatch(/wrong_answer 20 50\.0 % 10 25\.0 %/);
    expect(text).toContain("The manifests differ in: setting half more answers_sha256");
  });

  test.each([
    ["results.jsonl", /"reward":0/, '"reward":1'],
    ["summary.json", /"n_pass": 19/, '"n_pass": 29'],
    ["manifest.json", /"loop": "A"/, '"loop": "A","device":{"name":"another"}'],
  ])("says that %s was edited", async (file, from, to) => {
    const copy = copyOf(runs.half);
    if (file === "manifest.json")
      edit(path.join(copy, file), /"device": null/, '"device": {"a":1}');
    else edit(path.join(copy, file), from, to);
    const { html, runs: told } = await report({ runs: [copy] });
    expect(textOf(html)).toMatch(
      new RegExp(`Warning\\. Edited after the run wrote it: [^.]*${file}`),
    );
    expect(told[0]?.status).toMatch(/, edited$/);
  });

  test("says which rows were not scored", async () => {
    const scorer: Scorer = {
      ...{ name: "picky", version: "1.0.0", spec: "fails on hostile text" },
      score({ id }) {
        if (id.startsWith("hostile")) throw new Error(`broken by ${HOSTILE}`);
        return { reward: 0.5, code: `<b>${HOSTILE}`, details: { message: "half  a point" } };
      },
    };
    const html = await pageOf(await folder.evaluated("picky", 0, { scorer }));
    const text = textOf(html);
    expect(text).toContain("1 row not scored: 1 on which the scorer failed.");
    expect(text).toContain("Mean reward 0.5");
    expect(text).toContain("half a point");
    expect(html).not.toMatch(/<script|<img|<b>/);
  });

  test("holds whatever text as text", async () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const markup = fc.constantFrom(
      "<svg/onload=alert(1)>",
      "</pre></main>",
      "<!--",
      "]]>",
      "&lt;b>",
    );
    const any = fc.oneof(
      text,
      markup,
      fc.tuple(text, markup).map((parts) => parts.join("")),
    );
    const rows = fc.sample(fc.tuple(any, any, any, any), { seed: 3, numRuns: 300 });
    const scorer: Scorer = {
      ...{ name: "echo", version: "1.0.0", spec: "the code is the example's own" },
      score: ({ code }, completion) => ({
        ...{ reward: 0, code: `code ${String(code)}` },
        details: { message: completion },
      }),
    };
    const dataset = rows.map(([id, prompt, code], i) => ({ id: `${i} ${id}`, prompt, code }));
    const completions = rows.map(([id, , , completion], i) => ({ id: `${i} ${id}`, completion }));
    const outdir = folder.path("any");
    await evaluate({ dataset, completions, outdir, scorer });
    const html = await pageOf(outdir);
    expect(html.replaceAll("⇥\t", "")).not.toMatch(RAW_CONTROL);
    const tags = new Set([...html.matchAll(/<[/!]?([^\s>]*)/g)].map(([, name]) => name));
    const known = new Set(
      [...(await pageOf(runs.half)).matchAll(/<[/!]?([^\s>]*)/g)].map(([, name]) => name),
    );
    expect([...tags].filter((name) => !known.has(name))).toEqual([]);
  });

  test("says what verify found, and when the run changed since", async () => {
    const copy = copyOf(runs.half);
    const found = await verify({ run: copy, only: ["files", "score"] });
    await writeVerification(copy, found);
    expect(textOf(await pageOf(copy))).toMatch(
      /Partly verified: files 3 of 3, score 40 of 40 \(by/,
    );
    edit(path.join(copy, "summary.json"), /$/, "\n");
    expect(textOf(await pageOf(copy))).toContain("Verification out of date: the run changed since");
  });

  test("does not grow with its rows", async () => {
    const wrong = (n: number) => Array.from({ length: n }, (_, i) => ({ id: `r${i}` }));
    const sizes: number[] = [];
    for (const n of [200, 6000]) {
      const dataset = wrong(n).map((row) => ({ ...row, prompt: "1 + 1", expected_answer: 2 }));
      const completions = wrong(n).map((row) => ({ ...row, completion: "Final: 3" }));
      const outdir = folder.path(`long-${n}`);
      await evaluate({ dataset, completions, outdir });
      const html = await pageOf(outdir);
      expect(count(html, /<article class="sample"/g)).toBe(10);
      sizes.push(html.length);
    }
    expect(Math.abs((sizes[1] ?? 0) - (sizes[0] ?? 0))).toBeLessThan(200);
  });

  test("with a code of its own on every row stays small", async () => {
    let calls = 0;
    const scorer: Scorer = {
      ...{ name: "talker", version: "1.0.0", spec: "a code for every example" },
      score: ({ id }) => ({ reward: 0, code: `code-${id}`, details: { calls: calls++ * 0 } }),
    };
    const rows = Array.from({ length: 1500 }, (_, i) => ({ id: `r${i}` }));
    const dataset = rows.map((row) => ({ ...row, prompt: "x" }));
    const completions = rows.map((row) => ({ ...row, completion: "y" }));
    const outdir = folder.path("codes");
    await evaluate({ dataset, completions, outdir, scorer });
    const html = await pageOf(outdir);
    expect(count(html, /<article class="sample"/g)).toBe(30);
    expect(textOf(html)).toContain("1,470 rows with less common codes are not shown.");
    expect(textOf(html)).toContain("1,460 rows with less common codes.");
  });
});

describe("a selection", () => {
  test("tells the first samples from the selected ones, and both pass@1 apart", async () => {
    const html = await pageOf(runs.selection);
    const text = textOf(html);
    // Of 40: first right 10, one of two right 20, and over all four samples 25 of 160.
    expect(text).toContain("pass@1 of the first samples 25.0 %");
    expect(text).toContain("Selected, n = 2 50.0 %");
    expect(text).toContain("Change by selection +25 points 10 rescued, 0 lost");
    expect(text).toContain(
      "pass@1 is 25.0 % on the first sample of each example, and 15.6 % on average over all samples.",
    );
    expect(text).toContain("the gain is an upper bound");
    expect(html).toContain("<title>pass@k against k</title>");
    expect(text).toContain("selected, sample 2 · ok · reward 1");
  });

  test("with an edited pass@k says so and draws the rows' own", async () => {
    const copy = copyOf(runs.selection);
    edit(
      path.join(copy, "summary.json"),
      /"k": 1,\s*"packs": 40,\s*"value": 0\.\d+/,
      '"k": 1, "packs": 40, "value": 0.9',
    );
    const text = textOf(await pageOf(copy));
    expect(text).toContain("Edited after the run wrote it: summary.json.");
    expect(text).toContain("15.6 % on average over all samples");
  });
});

describe("a rollout", () => {
  test("tells how answers ended, their lengths and cost, with prompts", async () => {
    const html = await pageOf(runs.samples);
    const text = textOf(html);
    expect(text).toContain(`${4 * EXAMPLES} completions of ${EXAMPLES} examples.`);
    expect(text).toMatch(/stop 120 75\.0 % length 40 25\.0 %/);
    expect(text).toContain("Cut off 25.0 %");
    expect(text).toContain("at 1 and 2 for a million tokens in and out");
    expect(html).toContain("<title>Length of completions</title>");
    expect(text).toContain("Compute 2 + 1.");
    expect(text).toContain("The first 10 of 40 examples are shown.");
    expect(html).not.toMatch(/<script|<img/);
  });

  test("does without prompts that have changed, and says that answers were edited", async () => {
    const copy = copyOf(runs.samples);
    edit(path.join(copy, "manifest.json"), /d\.jsonl/, "gone.jsonl");
    edit(path.join(copy, "samples.jsonl"), "Final: 1", "Final: 8");
    const text = textOf(await pageOf(copy));
    expect(text).toContain("Without prompts: the data set is not where it was, or has changed.");
    expect(text).not.toContain("Compute 2 + 1.");
    expect(text).toContain("Edited after the run wrote it: samples.jsonl.");
  });

  test("that is damaged is refused by file and line", async () => {
    const copy = copyOf(runs.samples);
    appendFileSync(path.join(copy, "samples.jsonl"), '{"id":"x","samples":[1]}\n');
    await expect(pageOf(copy)).rejects.toThrow(/samples\.jsonl:41: not an answer/);
  });
});

test("preference data: pairs side by side, and why prompts have none", async () => {
  const html = await pageOf(runs.pairs);
  const text = textOf(html);
  expect(text).toContain("Prompts with a pair 100.0 %");
  expect(text).toContain("Every prompt has a pair.");
  expect(text).toContain("chosen · reward 1");
  expect(text).toContain("rejected · reward 0");
  expect(html).not.toMatch(/<script|<img/);
});

describe("refusals", () => {
  test("runs of two kinds, no run, a run twice", async () => {
    await expect(pageOf(runs.half, runs.samples)).rejects.toThrow(
      /half is an evaluation, and .*samples is a rollout/,
    );
    await expect(pageOf()).rejects.toThrow(/no run is given/);
    await expect(pageOf(folder.path("nothing"))).rejects.toThrow(/there is no run at/);
    await expect(pageOf(folder.root)).rejects.toThrow(/is not a run/);
    await expect(pageOf(runs.half, runs.half)).rejects.toThrow(/given twice/);
  });

  test.each(["half", "selection", "samples", "pairs"] as const)(
    "an unfinished %s",
    async (name) => {
      const copy = copyOf(runs[name]);
      rmSync(path.join(copy, "summary.json"));
      await expect(pageOf(copy)).rejects.toThrow(/is unfinished: it has no summary\.json/);
    },
  );

  test.each(["half", "selection", "samples", "pairs"] as const)("a damaged %s", async (name) => {
    const copy = copyOf(runs[name]);
    writeFileSync(path.join(copy, "manifest.json"), "{");
    await expect(pageOf(copy)).rejects.toThrow(/manifest\.json is damaged/);
  });
});
