/** `lockedroom report`: the command, and the page that it writes in a browser. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { trainingReport } from "../src/report/index.ts";
import { EXIT, expectError, sums } from "./cli.ts";
import { canBrowse, type Look, launch, open } from "./fixtures/training-runs/browser.ts";
import { asJudged } from "./fixtures/training-runs/judged.ts";
import { STORIES, withRuns } from "./fixtures/training-runs/stories.ts";
import { writeRun } from "./fixtures/training-runs/write-run.ts";

describe("the command", () => {
  test("writes the page and says where, and replaces one only with --force", async () => {
    const workspace = withRuns();
    const args = ["report", "--run", "good", "pairs", "--outfile", "out/report.html"];
    const { code, stdout, stderr } = await workspace.run(args);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(
      "good: finished, no alarms\npairs: unfinished, no alarms\nReport written to out/report.html\n",
    );
    workspace.write("out/report.html", "mine");
    expectError(await workspace.run(args), EXIT.usage, /out\/report\.html already exists/);
    expect(workspace.read("out/report.html")).toBe("mine");
    expect((await workspace.run([...args, "--force"])).code).toBe(0);
    expect(workspace.read("out/report.html")).toMatch(/^<!doctype html>/);
  });

  test.each([
    ["metrics.jsonl", '{"step":1,"loss":"low"}\n', /good\/metrics\.jsonl:1: loss/],
    ["samples.jsonl", '{"step":0}\n{oops}\n', /good\/samples\.jsonl:1: id/],
    ["evaluations.jsonl", "\n[]\n", /good\/evaluations\.jsonl:2: not a JSON object/],
    ["manifest.json", "{", /good\/manifest\.json is damaged/],
    ["summary.json", "{}", /good\/summary\.json is damaged.*schema/],
  ])("refuses a damaged %s by name and line", async (file, content, says) => {
    const workspace = withRuns();
    workspace.write(`good/${file}`, content);
    expectError(
      await workspace.run(["report", "--run", "good", "--outfile", "r.html"]),
      EXIT.data,
      says,
    );
    expect(workspace.has("r.html")).toBe(false);
  });

  test("refuses what is no run, a run twice, two kinds at once, and a page that is none", async () => {
    const workspace = sums(2);
    await workspace.prepare("evaluated");
    writeRun(workspace.path("good"), STORIES.good);
    const report = (...args: string[]) => workspace.run(["report", "--run", ...args]);
    expectError(await report("none", "--outfile", "r.html"), EXIT.data, /no run at none/);
    workspace.write("runs/sw/sweep.json", "{}");
    const swept = report("runs/sw", "--outfile", "r.html");
    expectError(await swept, EXIT.data, /runs\/sw is a sweep.*--run runs\/sw\/\*\//);
    expectError(await report("good", "./good", "--outfile", "r.html"), EXIT.usage, /given twice/);
    const both = report("good", "evaluated", "--outfile", "r.html");
    expectError(await both, EXIT.usage, /good is a training run, and evaluated is an evaluation/);
    const metrics = report("good", "--outfile", "good/metrics.jsonl", "--force");
    expectError(await metrics, EXIT.usage, /\.html/);
    expectError(
      await report("good", "--outfile", "r.html", "--price-per-hour", "-1"),
      EXIT.usage,
      /0 up/,
    );
  });
});

describe.skipIf(!canBrowse)("in a browser", () => {
  const shared = withRuns();
  let browser: Browser;
  beforeAll(async () => {
    const [good, bad] = [shared.path("good"), shared.path("bad")];
    shared.write("good.html", (await trainingReport({ runs: [good] })).html);
    shared.write("both.html", (await trainingReport({ runs: [good, bad] })).html);
    const judged = withRuns();
    asJudged(judged, "bad", { price: { prompt: 1, completion: 4 } });
    const { html } = await trainingReport({ runs: [judged.path("bad")] });
    shared.write("judged.html", html);
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
  });

  async function seen<T>(file: string, look: Look, see: (tab: Page) => Promise<T>): Promise<T> {
    const { tab, trouble } = await open(browser, shared.path(file), look);
    const result = await see(tab);
    await tab.context().close();
    expect(trouble).toEqual([]);
    return result;
  }

  test.each([
    ["good.html", { width: 1400 }],
    ["good.html", { width: 360, dark: true }],
    ["both.html", { width: 1400, dark: true }],
    ["both.html", { width: 360 }],
    ["judged.html", { width: 1400 }],
    ["judged.html", { width: 360, dark: true }],
  ])("%s fits %j, is drawn, and asks for nothing", async (file, look) => {
    await seen(file, look, async (tab) => {
      const width = await tab.evaluate("document.documentElement.scrollWidth");
      expect(width).toBe(look.width);
      // Every chart has a line through several points, and is as wide as its frame.
      const charts = await tab.$$eval("figure > svg", (all) =>
        all.map((svg) => ({
          points: Math.max(
            ...[...svg.querySelectorAll("svg path")].map(
              (line) => line.getAttribute("d")?.match(/[ML]/g)?.length ?? 0,
            ),
          ),
          title: svg.querySelector("title")?.textContent,
          words: svg.querySelector("desc")?.textContent?.length ?? 0,
          wide: svg.getBoundingClientRect().width,
        })),
      );
      expect(charts.length).toBeGreaterThan(18);
      for (const { points, title, words, wide } of charts) {
        expect(points, title ?? "").toBeGreaterThan(5);
        expect(words).toBeGreaterThan(60);
        expect(wide).toBeGreaterThan(300);
      }
    });
  });

  test("the charts of a judged run stand beside each other, with the same steps below", async () => {
    await seen("judged.html", { width: 1400 }, async (tab) => {
      const tops = await tab.$$eval("#curves .charts:first-of-type > figure", (all) =>
        all.map((one) => Math.round(one.getBoundingClientRect().top)),
      );
      expect(tops).toHaveLength(6);
      expect(new Set(tops).size, "two rows of three").toBe(2);
      const ends = await tab.$$eval("#curves .charts:first-of-type > figure > svg", (all) =>
        all.map((svg) => [...svg.querySelectorAll("text")].map((text) => text.textContent)),
      );
      for (const texts of ends) expect(texts).toEqual(expect.arrayContaining(["0", "100", "step"]));
    });
  });

  test("dark is another dress, for the charts too, and paper is light", async () => {
    const colours = (tab: Page) =>
      tab.evaluate(`["body", ".lockedroom-chart rect"].map((name) => {
        const { backgroundColor, fill } = getComputedStyle(document.querySelector(name));
        return name === "body" ? backgroundColor : fill;
      })`);
    const white = ["rgb(255, 255, 255)", "rgb(255, 255, 255)"];
    expect(await seen("good.html", {}, colours)).toEqual(white);
    await seen("good.html", { dark: true }, async (tab) => {
      expect(await colours(tab)).toEqual(["rgb(20, 23, 28)", "rgb(20, 23, 28)"]);
      await tab.emulateMedia({ media: "print", colorScheme: "dark" });
      expect(await colours(tab)).toEqual(white);
    });
  });

  test("runs lie over each other with a legend", async () => {
    await seen("both.html", {}, async (tab) => {
      const chart = tab.locator("figure", { hasText: "Reward in training" }).first();
      expect(await chart.locator("svg > g > text").allTextContents()).toEqual(
        expect.arrayContaining(["good", "bad"]),
      );
      const strokes = await chart
        .locator("svg svg path")
        .evaluateAll((all) => all.map((line) => line.getAttribute("stroke")));
      expect(new Set(strokes).size).toBe(2);
    });
  });

  test("what a policy said stays text, with its blanks in sight", async () => {
    await seen("good.html", {}, async (tab) => {
      expect(await tab.title()).toBe("Training report: good");
      expect(await tab.locator("main script, main img").count()).toBe(0);
      const said = await tab.locator(".completions pre", { hasText: "<script>" }).textContent();
      expect(said).toBe(
        "<script>document.title = 'gone'</script>⏎\n<img src=x onerror=alert(1)>⇥\t·two··gaps·",
      );
    });
  });

  test("numbers and manifest open by the keyboard", async () => {
    await seen("good.html", {}, async (tab) => {
      for (const place of [
        tab.locator("figure details").first(),
        tab.locator("#settings details"),
      ]) {
        const content = place.locator("table, pre").first();
        expect(await content.isVisible()).toBe(false);
        await place.locator("summary").focus();
        await tab.keyboard.press("Enter");
        expect(await content.isVisible()).toBe(true);
        expect((await content.textContent())?.length).toBeGreaterThan(40);
      }
    });
  });
});
