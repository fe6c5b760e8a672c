/** `lockedroom manual`: the generator piece by piece, the folder it writes, and the site in a browser. */

import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linkTarget, renderChapter } from "../src/course/manual/chapter.ts";
import { codeBlock, commandsOf, sessionLines } from "../src/course/manual/code.ts";
import {
  buildManual,
  buildSite,
  MARKER,
  publish,
  publishTemporarily,
  readSources,
  type Site,
  type Sources,
} from "../src/course/manual/index.ts";
import { indexScript } from "../src/course/manual/site.ts";
import { EXIT, expectError, Workspace } from "./cli.ts";

const around = {
  pages: new Set(["README.md", "01-a.md", "02-b.md"]),
  images: new Set(["diagrams/1.svg", "../images/2.svg"]),
};
const render = (markdown: string) => renderChapter("01-a.md", markdown, around);

function tiny(chapters: Record<string, string>): Site {
  const images: Sources["images"] = new Map([["diagrams/1.svg", Buffer.from("<svg/>")]]);
  const rest = { images, style: "", script: "", version: "1" };
  return buildSite({ chapters: new Map(Object.entries(chapters)), ...rest });
}

describe("a code block", () => {
  const session = [
    "$ ./lockedroom eval \\",
    "    --outdir runs/a",
    "Scored 240 examples.",
    "$ cat > x.json <<'END'",
    '{"price": "$ 1"}',
    "END",
    "$ true",
    "",
  ].join("\n");

  test("gives its commands, and neither prompt nor output", () => {
    expect(commandsOf(sessionLines(session))).toBe(
      './lockedroom eval \\\n    --outdir runs/a\ncat > x.json <<\'END\'\n{"price": "$ 1"}\nEND\ntrue',
    );
    expect(codeBlock('$ a <b> "c"\nout', "console")).toContain(
      'data-copy="a &lt;b&gt; &quot;c&quot;"',
    );
    expect(codeBlock("$ a\nout", "console")).toContain("<samp>out</samp>");
  });

  test("without prompts is copied whole where it is code, and not at all where it is text", () => {
    expect(codeBlock("npm start", "bash")).toContain('data-copy="npm start"');
    expect(codeBlock("{}", "json")).toContain('data-copy="{}"');
    expect(codeBlock("a → b", "text")).not.toContain("data-copy");
    expect(codeBlock("a → b", "")).not.toContain("data-copy");
  });
});

describe("a chapter", () => {
  test.each([
    ["a script", "<script>alert(1)</script>"],
    ["a handler", 'x <img src=x onerror="alert(1)"> y'],
    ["half a tag inside a raw one", "<kbd><img src=x onerror=alert(1) </kbd>"],
    ["a handler on a harmless tag", '<details ontoggle="alert(1)">'],
    [
      "a script as a link",
      "[a](javascript:alert(1)) [b](JavaScript:alert(1)) [c](data:text/html,x)",
    ],
    ["an attribute out of a picture", '![" onerror="alert(1)](diagrams/1.svg)'],
    ["an attribute out of a heading", '## " onclick="alert(1)'],
    ["a picture of the web", "![x](https://example.org/x.png)"],
    ["a tag in code", "```html\n<script>\n```\n`<b>`"],
  ])("lets nothing through: %s", (_, markdown) => {
    const { html } = render(markdown);
    const tags = [...html.matchAll(/<\/?([a-z0-9]+)((?:"[^"]*"|[^>"])*)>/gi)];
    for (const [, name = "", attributes = ""] of tags) {
      expect("h1 h2 p pre code a img figure kbd details wbr br".split(" ")).toContain(name);
      const names = [...attributes.matchAll(/([\w-]+)="[^"]*"/g)].map(([, one]) => one);
      const plain = ["id", "class", "href", "aria-label", "src", "alt", "tabindex"];
      expect(plain).toEqual(expect.arrayContaining(names));
    }
    expect(html.replace(/<\/?[a-z0-9]+(?:"[^"]*"|[^>"])*>/gi, "")).not.toMatch(/[<>]/);
    expect(html).not.toMatch(/(href|src)="\s*(javascript|data|https):/i);
  });

  test("drops an author's comments and keeps entities and folds", () => {
    const { html, sections } = render(
      "97<!-- a number --> of&nbsp;240\n\n<details>\n<summary>Why</summary>\n\nBecause.\n\n</details>",
    );
    expect(html).toContain("<p>97 of&nbsp;240</p>");
    expect(html).toMatch(/<details>\s*<summary>Why<\/summary>\s*<p>Because.<\/p>\s*<\/details>/);
    expect(sections[0]?.text).not.toContain("a number");
  });

  test("leads to pages by .html, and nowhere where there is no page", () => {
    const to = (href: string) => linkTarget(href, around.pages);
    expect(to("02-b.md#drill")).toEqual({ kind: "page", to: "02-b.html#drill" });
    expect(to("./README.md")).toEqual({ kind: "page", to: "index.html" });
    expect(to("#here")).toEqual({ kind: "page", to: "#here" });
    expect(to("../../src/core/rng.ts")).toEqual({ kind: "file", path: "src/core/rng.ts" });
    expect(to("https://example.org")).toEqual({ kind: "web", to: "https://example.org" });
    expect(to("/etc/passwd")).toEqual({ kind: "none" });
    expect(render("[the code](../../src/core/rng.ts)").html).toBe(
      "<p>the code (<code>src/core/rng.ts</code>)</p>\n",
    );
    expect(render("[`rng.ts`](../../src/core/rng.ts)").html).not.toContain("href");
  });

  test("names each heading once, as GitHub does, wherever it stands", () => {
    const { headings, html } = render(
      "# A: b & `c`\n\n## Drill\n\n> ## Drill\n\n- x\n\n  ## Drill\n\n## !?",
    );
    expect(headings.map(({ id }) => id)).toEqual([
      "a-b--c",
      "drill",
      "drill-1",
      "drill-2",
      "section",
    ]);
    for (const { id } of headings) expect(html.split(`id="${id}"`)).toHaveLength(2);
  });

  test("shows pictures of the manual and of the documents", () => {
    const { html, images } = render("![one](diagrams/1.svg)\n\n![two](../images/2.svg)");
    expect(images).toEqual(["diagrams/1.svg", "../images/2.svg"]);
    expect(html).toContain(
      '<figure><a class="picture" href="diagrams/1.svg"><img src="diagrams/1.svg" alt="one"></a></figure>',
    );
    expect(html).toContain('src="images/2.svg"');
  });

  test("leaves out the signpost at its end, which the page has in its own way", () => {
    expect(render("# A\n\nText.\n\n[Contents](README.md) · next: [B](02-b.md)").html).not.toContain(
      "Contents",
    );
    expect(render("# A\n\nSee [Contents](README.md).").html).toContain("Contents");
  });

  test("gives the search its text by section", () => {
    const { sections } = render(
      "# A\n\nOne *two*.\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n## B\n\n```\ncode\n```",
    );
    expect(sections.map(({ heading, text }) => [heading.text, text])).toEqual([
      ["A", "One two. x y 1 2"],
      ["B", "code"],
    ]);
  });
});

describe("a site", () => {
  test("has its chapters in the order of their numbers, and contents even if nobody wrote them", () => {
    const { chapters, files } = tiny({ "10-z.md": "# Z [x]", "9-y.md": "# Y", "2-x.md": "text" });
    expect(chapters.map(({ file }) => file)).toEqual([
      "index.html",
      "2-x.html",
      "9-y.html",
      "10-z.html",
    ]);
    expect(files.get("index.html")).toContain('<a href="10-z.html">Z [x]</a>');
    expect(files.get("9-y.html")).toMatch(
      /rel="prev" href="2-x.html"[\s\S]*rel="next" href="10-z.html"/,
    );
  });

  test("knows its dead links", () => {
    const { deadLinks } = tiny({
      "1-a.md": "# A\n\n[x](2-b.md#none) [y](#a) [z](2-b.md#b)",
      "2-b.md": "# B",
    });
    expect(deadLinks).toEqual(["1-a.html: 2-b.html#none"]);
  });

  test("takes any Markdown", () => {
    for (const text of [
      "",
      "\ufeff# A\r\n\r\nb",
      "#".repeat(5000),
      "[".repeat(500),
      "\u0000\u2028`",
      "%",
    ]) {
      expect(tiny({ "1-a.md": text }).files.has("1-a.html")).toBe(true);
    }
    expect([...tiny({ 'a"<b>.md': "# A" }).files.keys()]).toContain("a--b-.html");
  });

  test("has an index that ends no script early", () => {
    const script = indexScript([["a", "b", "c", "</script>\u2028<!--"]]);
    expect(script).not.toMatch(/[<\u2028]/);
    const scope = {} as { manualIndex: unknown };
    new Function("globalThis", script)(scope);
    expect(scope.manualIndex).toEqual([["a", "b", "c", "</script>\u2028<!--"]]);
  });

  test("of the manual itself is whole, and loads nothing from elsewhere", async () => {
    const sources = await readSources();
    const { files, chapters, deadLinks } = buildSite(sources);
    expect(deadLinks).toEqual([]);
    expect(chapters.length).toBeGreaterThanOrEqual(18);
    const pictures = [...sources.chapters.values()].join("").match(/!\[/g)?.length;
    expect(chapters.flatMap(({ images }) => images)).toHaveLength(pictures ?? 0);
    for (const [name, content] of files) {
      if (!name.endsWith(".html")) continue;
      expect(content).toContain("default-src 'none'");
      expect(content).not.toMatch(/(src|<link[^>]* href)="(https?:)?\/\//);
      expect(content).not.toMatch(/<[^>]* style=/);
    }
  });
});

describe("the folder", () => {
  const site = tiny({ "1-a.md": "# A\n\n![x](diagrams/1.svg)", "2-b.md": "# B" });
  const fresh = () => new Workspace();

  test("appears whole, and is left alone the second time", async () => {
    const workspace = fresh();
    const dir = await publish(site, workspace.path("deep/site"));
    const before = workspace.snapshot("deep/site");
    expect(Object.keys(before).sort()).toEqual([MARKER, ...site.files.keys()].sort());
    const times = readdirSync(dir).map((name) => statSync(path.join(dir, name)).mtimeMs);
    await publish(site, dir);
    expect(readdirSync(dir).map((name) => statSync(path.join(dir, name)).mtimeMs)).toEqual(times);
    expect(readdirSync(workspace.path("deep"))).toEqual(["site"]);
  });

  test("is right when many write it at once", async () => {
    const workspace = fresh();
    await Promise.all(Array.from({ length: 12 }, () => publish(site, workspace.path("site"))));
    expect(Object.keys(workspace.snapshot("site")).sort()).toEqual(
      [MARKER, ...site.files.keys()].sort(),
    );
    expect(readdirSync(workspace.dir)).toEqual(["site"]);
  });

  test("is mended, brought up to date, and keeps what people put there", async () => {
    const workspace = fresh();
    mkdirSync(workspace.path("site"));
    await publish(site, workspace.path("site"));
    workspace.write("site/1-a.html", "damaged");
    workspace.write("site/mine.txt", "mine");
    const next = tiny({ "1-a.md": "# A, again" });
    await publish(next, workspace.path("site"));
    expect(workspace.read("site/1-a.html")).toBe(next.files.get("1-a.html"));
    expect(workspace.has("site/2-b.html")).toBe(false);
    expect(workspace.read("site/mine.txt")).toBe("mine");
  });

  test("of somebody else is refused and untouched", async () => {
    const workspace = fresh();
    workspace.write("site/index.html", "mine");
    await expect(publish(site, workspace.path("site"))).rejects.toThrow(
      /not empty and is not a manual/,
    );
    expect(workspace.snapshot("site")).toEqual({ "index.html": "mine" });
    workspace.write("file", "mine");
    await expect(publish(site, workspace.path("file"))).rejects.toThrow(/cannot write .*file/);
    await expect(publish(site, workspace.path("file/site"))).rejects.toThrow(/cannot write/);
  });

  test("with a person's file or link in the way is refused", async () => {
    const workspace = fresh();
    await publish(tiny({ "1-a.md": "# A" }), workspace.path("site"));
    workspace.write("site/2-b.html", "mine");
    await expect(publish(site, workspace.path("site"))).rejects.toThrow(
      /2-b.html exists and is not part of the manual/,
    );
    expect(workspace.read("site/2-b.html")).toBe("mine");
    const linked = fresh();
    await publish(tiny({ "1-a.md": "# A" }), linked.path("site"));
    mkdirSync(linked.path("elsewhere"));
    symlinkSync(linked.path("elsewhere"), linked.path("site/diagrams"));
    await expect(publish(site, linked.path("site"))).rejects.toThrow(
      /diagrams exists and is not part of the manual/,
    );
    expect(readdirSync(linked.path("elsewhere"))).toEqual([]);
  });

  test("a marker cannot send the broom elsewhere", async () => {
    const workspace = fresh();
    workspace.write("keep.txt", "mine");
    const marker = {
      schema: "lockedroom.manual@1",
      files: ["../keep.txt", "/keep.txt", "a/../../keep.txt"],
    };
    workspace.write(`site/${MARKER}`, JSON.stringify(marker));
    await publish(site, workspace.path("site"));
    expect(workspace.read("keep.txt")).toBe("mine");
  });

  test("among the temporary ones is named after the content, and another's is not trusted", async () => {
    const workspace = fresh();
    const dir = await publishTemporarily(site, workspace.dir);
    expect(path.basename(dir)).toMatch(/^lockedroom-manual-[\d.]+-[0-9a-f]{12}$/);
    expect(await publishTemporarily(site, workspace.dir)).toBe(dir);
    expect(await publishTemporarily(tiny({ "1-a.md": "# Other" }), workspace.dir)).not.toBe(dir);
    const trap = fresh();
    mkdirSync(trap.path("trap"));
    symlinkSync(trap.path("trap"), trap.path(path.basename(dir)));
    expect(await publishTemporarily(site, trap.dir)).not.toBe(trap.path(path.basename(dir)));
    expect(readdirSync(trap.path("trap"))).toEqual([]);
    await expect(publishTemporarily(site, trap.path("none"))).rejects.toMatchObject({
      hint: expect.stringContaining("--outdir"),
    });
  });
});

describe("the command", () => {
  test("prints the path of the first page, and nothing else, where there is no terminal", async () => {
    const workspace = new Workspace();
    const { code, stdout, stderr } = await workspace.run(["manual", "--outdir", "my site"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`${workspace.path("my site/index.html")}\n`);
    expect(workspace.read("my site/index.html")).toBe(
      (await buildManual()).files.get("index.html"),
    );
  });

  test("without --outdir answers twice with the same place", async () => {
    const workspace = new Workspace();
    const env = { TMPDIR: workspace.dir, TEMP: workspace.dir };
    const first = await workspace.run(["manual", "--no-open"], { env });
    const second = await workspace.run(["manual", "--no-open"], { env });
    expect(first.stdout).toMatch(/lockedroom-manual-.*index\.html\n$/);
    expect(second.stdout).toBe(first.stdout);
    expect(existsSync(first.stdout.trim())).toBe(true);
  });

  test("refuses a folder with other things in a sentence and with a next step", async () => {
    const workspace = new Workspace();
    workspace.write("full/notes.md", "mine");
    const result = await workspace.run(["manual", "--outdir", "full"]);
    expectError(
      result,
      EXIT.usage,
      /not empty and is not a manual \(it has notes\.md\)/,
      /--outdir/,
    );
    expect(workspace.snapshot("full")).toEqual({ "notes.md": "mine" });
    workspace.write("file", "mine");
    expectError(
      await workspace.run(["manual", "--outdir", "file/x"]),
      [EXIT.io, EXIT.usage],
      /cannot write/,
    );
  });

  test.skipIf(process.getuid?.() !== 0)(
    "says so where it may not write (only root can become such a user)",
    async () => {
      const workspace = new Workspace();
      expectError(
        await workspace.run(["manual", "--outdir", "site"], { uid: 65534 }),
        EXIT.io,
        /permission denied/,
      );
    },
  );

  test("its help fits", async () => {
    const { stdout } = await new Workspace().run(["manual", "--help"]);
    expect(stdout).toContain("Examples:");
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  });
});

// --- in a browser ---------------------------------------------------------------------------------

const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const executablePath = (process.env.PATH ?? "")
  .split(path.delimiter)
  .flatMap((folder) => BROWSERS.map((name) => path.join(folder, name)))
  .find((file) => existsSync(file));
if (executablePath === undefined && process.env.CI !== "true") {
  console.warn(`The site is not tried in a browser: none of ${BROWSERS.join(", ")} was found.`);
}

describe.skipIf(executablePath === undefined && process.env.CI !== "true")("in a browser", () => {
  const workspace = new Workspace();
  const url = (page: string) => pathToFileURL(workspace.path("site", page)).href;
  const trouble: string[] = [];
  let browser: Browser;
  let site: Site;

  beforeAll(async () => {
    if (executablePath === undefined) throw new Error("CI needs a browser: install chromium.");
    site = await buildManual();
    await publish(site, workspace.path("site"));
    // A container's root has no sandbox to offer.
    const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    browser = await chromium.launch({ executablePath, args });
  });
  afterAll(async () => {
    await browser?.close();
  });

  async function open(
    page: string,
    options: { dark?: boolean; width?: number } = {},
  ): Promise<Page> {
    const { dark = false, width = 1280 } = options;
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: dark ? "dark" : "light",
    });
    const tab = await context.newPage();
    tab.on("console", (message) => trouble.push(`${page}: ${message.text()}`));
    tab.on("pageerror", (error) => trouble.push(`${page}: ${error.message}`));
    tab.on("requestfailed", (request) => trouble.push(`${page}: ${request.url()} failed`));
    tab.on("request", (request) => {
      if (!request.url().startsWith("file:")) trouble.push(`${page}: asked for ${request.url()}`);
    });
    await tab.goto(url(page));
    return tab;
  }

  test("every page is quiet, shows its pictures, and fits a phone", async () => {
    const tab = await open("index.html", { width: 390 });
    for (const { file } of site.chapters) {
      await tab.goto(url(file));
      const seen = await tab.evaluate(`({
        width: document.documentElement.scrollWidth,
        broken: [...document.images].filter((image) => image.naturalWidth === 0).length,
        unnamed: [...document.querySelectorAll("a, button, input")].filter(
          (one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length ||
            one.querySelector("img[alt]:not([alt=''])"))).length,
        headings: document.querySelectorAll("h1").length,
        current: document.querySelectorAll("[aria-current=page]").length,
      })`);
      expect({ file, ...(seen as object) }).toEqual({
        file,
        width: 390,
        broken: 0,
        unnamed: 0,
        headings: 1,
        current: 1,
      });
    }
    await tab.context().close();
    expect(trouble).toEqual([]);
  });

  test("every link within the site leads to something", async () => {
    const tab = await open("index.html");
    const ids = new Map<string, Set<string>>();
    const links: [from: string, to: string][] = [];
    for (const { file } of site.chapters) {
      await tab.goto(url(file));
      ids.set(url(file), new Set(await tab.$$eval("[id]", (all) => all.map(({ id }) => id))));
      const hrefs = await tab.$$eval("a[href]", (all) =>
        all.map((a) => (a as unknown as { href: string }).href),
      );
      links.push(...hrefs.map((href): [string, string] => [file, href]));
    }
    const dead = links.filter(([, href]) => {
      const [target = "", id] = href.split("#");
      if (!target.startsWith("file:")) return false;
      if (!ids.has(target)) return !existsSync(new URL(target));
      return id !== undefined && !ids.get(target)?.has(decodeURIComponent(id));
    });
    expect(dead).toEqual([]);
    expect(links.length).toBeGreaterThan(300);
    await tab.context().close();
  });

  test("the search is reached by /, walked by arrows, left by Escape, and leads there", async () => {
    const tab = await open("index.html");
    await tab.keyboard.press("/");
    await tab.keyboard.type("advantage");
    const first = tab.locator("#results a").first();
    expect(await first.textContent()).toMatch(/advantage/i);
    expect(await first.locator("mark").first().textContent()).toMatch(/^advantage$/i);
    expect(await tab.locator("#found").textContent()).toMatch(/^\d+ found/);
    await tab.keyboard.press("ArrowDown");
    expect(await first.evaluate((a) => a.matches(":focus"))).toBe(true);
    await tab.keyboard.press("ArrowUp");
    expect(await tab.locator("#find").evaluate((input) => input.matches(":focus"))).toBe(true);
    await tab.keyboard.press("Escape");
    expect(await tab.locator("#results").isHidden()).toBe(true);
    expect(await tab.inputValue("#find")).toBe("");
    await tab.keyboard.press("/");
    await tab.keyboard.type("baseline advantage");
    await tab.keyboard.press("Enter");
    await tab.waitForURL(/baseline-and-advantage/);
    await tab.fill("#find", "<img src=x onerror=alert(1)> zzz");
    expect(await tab.locator("#results").textContent()).toContain("Nothing found");
    await tab.context().close();
    expect(trouble).toEqual([]);
  });

  test("a click on a result leads to its chapter", async () => {
    const tab = await open("index.html");
    await tab.fill("#find", "advantage");
    await tab.locator("#results a").filter({ hasText: "Baseline and advantage" }).first().click();
    await tab.waitForURL(/06-baseline-and-advantage\.html/);
    expect(await tab.locator("h1").textContent()).toContain("Baseline and advantage");
    await tab.context().close();
  });

  test("the button copies the commands and nothing else", async () => {
    const chapter = site.chapters.find(({ html }) => html.includes("<samp>"));
    const tab = await open(chapter?.file ?? "");
    await tab.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const button = tab.locator("pre[data-copy] + .copy").first();
    await button.click();
    await expect.poll(() => button.textContent()).toBe("Copied");
    const text = (await tab.evaluate("navigator.clipboard.readText()")) as string;
    expect(text).toMatch(/^\S/);
    expect(text).not.toMatch(/^\$ /m);
    expect(text).toBe(await tab.locator("pre[data-copy]").first().getAttribute("data-copy"));
    await tab.context().close();
  });

  test("the dark dress is another one, and so is that of the drawings", async () => {
    const [light, dark] = [
      await open("01-three-loops.html"),
      await open("01-three-loops.html", { dark: true }),
    ];
    const colours = (tab: Page) => tab.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(await colours(light)).not.toBe(await colours(dark));
    const pictures = [light, dark].map((tab) => tab.locator("figure img").first().screenshot());
    const [bright, dim] = await Promise.all(pictures);
    expect(bright?.equals(dim as Buffer)).toBe(false);
    await light.context().close();
    await dark.context().close();
  });

  test("the text is complete without scripts, on paper too", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const tab = await context.newPage();
    await tab.goto(url("01-three-loops.html"));
    expect(await tab.locator(".search").isHidden()).toBe(true);
    expect(await tab.locator(".copy").count()).toBe(0);
    await tab.emulateMedia({ media: "print" });
    expect(await tab.locator(".contents").isHidden()).toBe(true);
    expect(await tab.locator("article").isVisible()).toBe(true);
    await context.close();
  });
});
