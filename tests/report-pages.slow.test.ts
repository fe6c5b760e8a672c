/** Pages about evaluations, selections, rollouts, preference data and verdicts: the command, a browser. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gate } from "../src/gate/index.ts";
import { report, verdictReport } from "../src/report/index.ts";
import { EXIT, expectError, sums } from "./cli.ts";
import { lowContrast } from "./fixtures/contrast.ts";
import { HOSTILE, reportFolder } from "./fixtures/report-runs.ts";
import { canBrowse, type Look, launch, open } from "./fixtures/training-runs/browser.ts";

describe("the command", () => {
  test("writes pages about runs and verdicts, from run folders and from a file", async () => {
    const workspace = sums(6);
    await workspace.prepare("old");
    await workspace.prepare("new");
    const made = await workspace.run(["report", "--run", "old", "--outfile", "old.html"]);
    expect([made.code, made.stderr]).toEqual([EXIT.ok, ""]);
    expect(made.stdout).toMatch(/^old: pass rate [\d.]+ %\nReport written to old\.html\n$/);
    const pair = ["--baseline", "old", "--candidate", "new"];
    const direct = await workspace.run(["report", ...pair, "--outfile", "direct.html"]);
    expect(direct.stdout).toMatch(/^new against old: [A-Z]+\nReport written to direct\.html\n$/);
    await workspace.run(["gate", ...pair, "--report", "verdict.json"]);
    const stored = await workspace.run([
      "report",
      "--verdict",
      "verdict.json",
      "--outfile",
      "v.html",
    ]);
    expect([stored.code, stored.stderr]).toEqual([EXIT.ok, ""]);
    expect(workspace.read("v.html")).toBe(workspace.read("direct.html"));
  });

  test("wants one thing to be about, and a verdict that is one", async () => {
    const workspace = sums(2);
    await workspace.prepare("old");
    const about = (...args: string[]) => workspace.run(["report", ...args, "--outfile", "r.html"]);
    const one = /about runs, a comparison or a verdict/;
    expectError(await about(), EXIT.usage, one);
    expectError(await about("--baseline", "old"), EXIT.usage, one);
    expectError(await about("--run", "old", "--verdict", "v.json"), EXIT.usage, one);
    workspace.write("v.json", '{"schema":"lockedroom.gate@1"}');
    expectError(await about("--verdict", "v.json"), EXIT.data, /v\.json is damaged/);
    expect(workspace.has("r.html")).toBe(false);
  });
});

describe.skipIf(!canBrowse)("in a browser", () => {
  const folder = reportFolder();
  const file = (name: string) => `${name}.html`;
  const write = (name: string, { html }: { readonly html: string }) =>
    folder.write(file(name), html);
  let browser: Browser;

  beforeAll(async () => {
    const [half, more] = [await folder.evaluated("half", 20), await folder.evaluated("more", 36)];
    const selections = [await folder.selected("one", 1), await folder.selected("two", 2)];
    const samples = await folder.sampled("samples", 4);
    write("evaluation", await report({ runs: [half] }));
    write("evaluations", await report({ runs: [half, more] }));
    write("selections", await report({ runs: selections }));
    write("rollout", await report({ runs: [samples] }));
    write("pairs", await report({ runs: [await folder.paired("preferences", samples)] }));
    write(
      "gate",
      await verdictReport({ verdict: await gate({ baseline: half, candidate: more }) }),
    );
    const sliced = await folder.evaluated("sliced", 20, { slice: ["expected_answer"] });
    const [few, many] = [await folder.repeated("few", 1), await folder.repeated("many", 2)];
    write("repeats", await report({ runs: [few], slice: ["id"] }));
    const claim = { claim: "no-regression", margin: 0.05 } as const;
    const slices = { baseline: sliced, candidate: more, slice: "expected_answer", ...claim };
    write("gate-slices", await verdictReport({ verdict: await gate(slices) }));
    const repeats = await gate({ baseline: few, candidate: many });
    write("gate-repeats", await verdictReport({ verdict: repeats }));
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
  });

  async function seen<T>(name: string, look: Look, see: (tab: Page) => Promise<T>): Promise<T> {
    const { tab, trouble } = await open(browser, folder.path(file(name)), look);
    const result = await see(tab);
    await tab.context().close();
    expect(trouble).toEqual([]);
    return result;
  }

  const PAGES = [
    ...["evaluation", "evaluations", "repeats", "selections", "rollout", "pairs"],
    ...["gate", "gate-slices", "gate-repeats"],
  ];
  const LOOKS = [{ width: 1400 }, { width: 360, dark: true }] as const;

  test.each(PAGES.flatMap((name) => LOOKS.map((look) => [name, look] as const)))(
    "%s fits %j, asks for nothing, and runs nothing that its rows hold",
    async (name, look) => {
      await seen(name, look, async (tab) => {
        expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(look.width);
        expect(await tab.title()).not.toBe("gone");
        expect(await tab.locator("body script, body img").count()).toBe(0);
        // Headings in order, none skipped; every drawing has a name; ids are unique.
        const levels = await tab.$$eval("h1, h2, h3, h4, h5", (all) =>
          all.map(({ tagName }) => Number(tagName.slice(1))),
        );
        expect(levels[0]).toBe(1);
        levels.forEach((level, i) => {
          if (i > 0) expect(level - (levels[i - 1] ?? 0)).toBeLessThanOrEqual(1);
        });
        const nameless = await tab.$$eval(
          "svg[role=img]",
          (all) => all.filter((svg) => !svg.querySelector("title")?.textContent).length,
        );
        expect(nameless).toBe(0);
        const ids = await tab.$$eval("[id]", (all) => all.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        expect(await lowContrast(tab)).toEqual([]);
      });
    },
  );

  test.each(["evaluation", "gate"])("%s: hidden rows open by the keyboard", async (name) => {
    await seen(name, {}, async (tab) => {
      const more = tab.locator("details.more").first();
      const row = more.locator("article").first();
      expect(await row.isVisible()).toBe(false);
      await more.locator("> summary").focus();
      await tab.keyboard.press("Enter");
      expect(await row.isVisible()).toBe(true);
    });
  });

  test("hostile text stays text, with its invisible characters in sight", async () => {
    await seen("evaluation", {}, async (tab) => {
      const said = tab.locator(".completions pre", { hasText: "<script>" }).first();
      expect(await said.textContent()).toBe(
        `${HOSTILE}⏎\na⟨U+200B⟩b ⟨U+202E⟩ F⟨U+0456⟩nal⟨U+001B⟩[31m··`,
      );
    });
  });

  test("both completions of a flip stand side by side, on a phone below each other", async () => {
    const places = (tab: Page) =>
      tab.$$eval("#flips .completions >> nth=0 >> xpath=./div", (all) =>
        all.map((side) => {
          const { x, y } = side.getBoundingClientRect();
          return { x, y };
        }),
      );
    const [left, right] = await seen("gate", {}, places);
    expect(right?.y).toBe(left?.y);
    expect(right?.x).toBeGreaterThan(left?.x ?? 0);
    const [above, below] = await seen("gate", { width: 360 }, places);
    expect(below?.x).toBe(above?.x);
    expect(below?.y).toBeGreaterThan(above?.y ?? 0);
  });
});
