/** A command with a judge: keys are in nothing that it leaves, and a repetition asks nothing. */

import { expect, test } from "vitest";
import { EXIT, Workspace } from "./cli.ts";
import { type Behaviour, FakeEndpoint, KEY } from "./endpoint.ts";
import { idsIn, says, scores, verdict } from "./judge-endpoint.ts";

const OTHER = "sk-of-the-policy-0123456789";

async function audits(behave: Behaviour) {
  const endpoint = await FakeEndpoint.start(behave);
  const workspace = new Workspace();
  const env = { JUDGE_API_KEY: KEY, JUDGE_BASE_URL: endpoint.url, OPENAI_API_KEY: OTHER };
  const run = (outdir: string, ...flags: string[]) =>
    workspace.run(
      ["judge-audit", "--judge", "openai:m", "--limit", "8", "--outdir", outdir, ...flags],
      { env },
    );
  return { endpoint, workspace, run };
}

test("a key that the judge repeats is in no file and no output", async () => {
  const { endpoint, workspace, run } = await audits((asked) =>
    says(JSON.stringify(scores(idsIn(asked))).replaceAll("number", `${KEY} is`)),
  );
  const { stdout, stderr } = await run("audit");
  expect(endpoint.asked[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  const files = workspace.snapshot(".");
  const everything = JSON.stringify([files, stdout, stderr]);
  expect(everything).toContain("[key removed] is 1");
  expect(everything).not.toContain(KEY);
  expect(everything).not.toContain(OTHER);
  expect(JSON.stringify(endpoint.asked)).not.toContain(OTHER);
  expect(Object.keys(files).some((name) => name.startsWith(".lockedroom/judge-cache/"))).toBe(true);
});

test("a wrong key ends the command with a sentence that does not show it", async () => {
  const { endpoint, run } = await audits(() => ({
    status: 401,
    body: { error: { message: `Incorrect API key: ${KEY}` } },
  }));
  const { code, stderr } = await run("audit");
  expect(code).toBe(EXIT.usage);
  expect(stderr).toMatch(/status 401/);
  expect(stderr).toContain("Check JUDGE_API_KEY");
  expect(stderr).not.toContain(KEY);
  expect(endpoint.asked.length).toBeLessThanOrEqual(16);
});

test("a repetition makes no request and writes the same bytes, but for the volatile part", async () => {
  const { endpoint, workspace, run } = await audits(verdict);
  await run("first");
  const asked = endpoint.asked.length;
  expect(asked).toBeGreaterThan(10);
  await run("second");
  expect(endpoint.asked).toHaveLength(asked);
  const [first, second] = ["first", "second"].map((folder) => steady(workspace, folder));
  expect(second).toEqual(first);
  await run("third", "--no-cache");
  expect(endpoint.asked).toHaveLength(2 * asked);
});

/** The files of a run without what is another each time. */
function steady(workspace: Workspace, folder: string): Record<string, unknown> {
  const files = Object.entries(workspace.snapshot(folder));
  return Object.fromEntries(
    files.map(([name, text]) => {
      if (!name.endsWith("manifest.json")) return [name, text];
      const { volatile: _volatile, ...rest } = JSON.parse(text) as Record<string, unknown>;
      return [name, rest];
    }),
  );
}
