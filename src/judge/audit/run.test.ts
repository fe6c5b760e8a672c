/** The run that an audit writes: the same bytes again, and no edited file is believed. */

import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { AUDIT_DEFAULTS } from "../../audit/audit.ts";
import { embeddedReplies } from "../../audit/embedded-data.ts";
import { type LabelledPair, withoutCopies } from "../../audit/labelled.ts";
import { SPLITS } from "../../core/environment.ts";
import { AUDIT, JUDGEMENTS, SUMMARY } from "../../runs/artifacts.ts";
import { listRuns } from "../../runs/catalogue.ts";
import { auditJudgementSchema, judgeAuditManifestSchema } from "../../runs/judge-audit-schema.ts";
import { openJudgeAudit } from "../../runs/read-judge-audit.ts";
import { openEmbeddedJudge } from "../open-embedded.ts";
import { auditJudge } from "./run.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-audit-"));
const at = (...names: string[]) => path.join(root, ...names);
const read = (...names: string[]) => readFileSync(at(...names), "utf8");

async function audited(name: string, limit = 8, data = embeddedReplies("dev")) {
  const judge = await openEmbeddedJudge({ faults: ["injection"], concurrency: 4 });
  try {
    return await auditJudge({ ...AUDIT_DEFAULTS, judge, data, limit, outdir: at(name) });
  } finally {
    await judge.close();
  }
}

test("a run with every verdict, which is listed and opened, and the same the second time", async () => {
  const { audit, manifest, summary } = await audited("one");
  const again = await audited("two");
  for (const name of [AUDIT, JUDGEMENTS, SUMMARY])
    expect(read("two", name)).toBe(read("one", name));
  const { volatile: _, ...fixed } = manifest;
  expect(again.manifest).toMatchObject(fixed);
  expect(judgeAuditManifestSchema.parse(manifest).volatile.judge).toMatchObject({ requests: 50 });

  const lines = read("one", JUDGEMENTS).trim().split("\n");
  const judgements = lines.map((line) => auditJudgementSchema.parse(JSON.parse(line)));
  expect(judgements).toHaveLength(8 * 6 + 2);
  const [obeyed] = judgements.filter(({ probe }) => probe === "injection");
  expect(obeyed?.attempts.find(({ name }) => name === "probe")?.score).toBe(1);
  expect(obeyed?.wording).toBe("request");

  const runs = [];
  for await (const run of listRuns(at("one"))) runs.push(run);
  expect(runs).toMatchObject([{ kind: "judge-audit", state: "finished" }]);
  expect(runs[0]?.headline).toMatchObject({ n_convicted: summary.n_convicted, n_dropped: 0 });
  const opened = await openJudgeAudit(at("one"));
  expect(opened.audit).toEqual(JSON.parse(JSON.stringify(audit)));
  expect(read("one", "README.md")).toContain(audit.judge.fingerprint);
});

test("an audit that was edited is not believed", async () => {
  // The audit of the test above.
  const acquit = (text: string) => text.replaceAll(/"(convicted|undecided)"/g, '"acquitted"');
  for (const [name, change] of [
    [AUDIT, (text: string) => acquit(text).replace(/"trusted": "\w+"/, '"trusted": "trusted"')],
    [JUDGEMENTS, (text: string) => text.replaceAll('"score":1,', '"score":0.5,')],
    ["manifest.json", (text: string) => text.replace("embedded-judge:injection", "embedded-judge")],
  ] as const) {
    const copy = `copy-${name}`;
    cpSync(at("one"), at(copy), { recursive: true });
    const changed = change(read(copy, name));
    expect(changed).not.toBe(read(copy, name));
    writeFileSync(at(copy, name), changed);
    await expect(openJudgeAudit(at(copy))).rejects.toThrow(/was changed after/);
  }
});

test("copies of a pair are no evidence: each counts once", async () => {
  const data = embeddedReplies("dev");
  const [one] = data.pairs as [LabelledPair];
  const copies = Array.from({ length: 160 }, (_, i) => ({ ...one, id: `${one.id}#${i}` }));
  await expect(audited("copies", 160, { ...data, pairs: copies })).rejects.toThrow(
    /1 different labelled pairs are too few/,
  );
  for (const split of SPLITS) {
    const own = embeddedReplies(split);
    expect(withoutCopies(own)).toEqual(own);
  }
});

test("too few pairs, and a folder that holds something else, are refused before the judge is asked", async () => {
  await expect(audited("few", 7)).rejects.toThrow(/7 different labelled pairs are too few/);
  writeFileSync(at("file.txt"), "");
  await expect(audited(".")).rejects.toThrow(/not empty/);
});
