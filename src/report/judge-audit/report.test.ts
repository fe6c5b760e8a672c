/** The page about an audit: of a judge that goes by length, and of one that goes by the labels. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { scriptedJudge } from "../../../tests/scripted-judge.ts";
import { AUDIT_DEFAULTS } from "../../audit/audit.ts";
import { embeddedReplies } from "../../audit/embedded-data.ts";
import type { JudgedMessage } from "../../core/judge.ts";
import { auditJudge } from "../../judge/audit/run.ts";
import { report } from "../report.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-audit-page-"));
const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/[\s\u00a0]+/g, " ");

type Score = (attempt: readonly JudgedMessage[]) => number;

async function pageOf(name: string, score: Score, limit: number) {
  const outdir = path.join(root, name);
  const [judge, data] = [scriptedJudge({ score }), embeddedReplies("train")];
  await auditJudge({ ...AUDIT_DEFAULTS, judge, data, limit, outdir });
  const { html, runs } = await report({ runs: [outdir] });
  return { html, runs, text: textOf(html) };
}

const byLength: Score = (attempt) => Math.min(1, (attempt.at(-1)?.content.length ?? 0) / 600);

test("of a judge that goes by length has the finding, its intervals and two examples", async () => {
  const { html, runs, text } = await pageOf("long", byLength, 40);
  expect(runs).toEqual([{ name: "long", status: "not trusted" }]);
  expect(text).toMatch(/Not trusted\. Shown: .*length bias/);
  expect(text).toMatch(/length bias convicted score gained by neutral text/);
  expect(text).toContain("Score gained without merit");
  expect(text).toMatch(/tasks for 10\.0 % measured 41\.\d %/);
  expect(html.match(/: a copy with neutral text/g)).toHaveLength(2);
  expect(text).toMatch(/a copy with neutral text [^·]*order \d{5}: /);
  expect(html).not.toContain("<script");
});

test("of a judge that ties everything shows its agreement alone, and has the same bytes again", async () => {
  const constant = await pageOf("same", () => 0.5, 200);
  expect(constant.text).not.toMatch(/convicted score/);
  expect(constant.text).toMatch(/agreement with labels convicted/);
  const same = await report({ runs: [path.join(root, "same")] });
  expect(same.html).toBe(constant.html);
});
