/** Audits of judges as evidence: each is made again, because figures can be written by hand. */

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { AUDIT, JUDGEMENTS, type JudgeAudit, openJudgeAudit } from "../runs/index.ts";
import { type CheckContext, ensure } from "./check-context.ts";

/** The embedded judge that an audit is about, and how many pairs it takes. */
export interface AuditSettings {
  /** As --judge names it. */
  readonly judge: string;
  readonly limit: number;
  /** The rubric's file in the workspace; absent: the default rubric. */
  readonly rubric?: string;
}

export function auditCommand({ judge, limit, rubric }: AuditSettings, run: string): string {
  const by = rubric === undefined ? "" : ` --rubric ${rubric}`;
  return `./lockedroom judge-audit --judge ${judge} --limit ${limit} --no-cache \\\n ${by} --outdir runs/${run}`;
}

/** An audit that its command gives again, to the byte. */
export async function auditRun(
  context: CheckContext,
  name: string,
  settings: AuditSettings,
): Promise<JudgeAudit> {
  const where = `runs/${name}`;
  ensure(context.has(where), {
    ...{ expected: `the audit ${where}`, found: "no such folder", where },
  });
  for (const file of [AUDIT, JUDGEMENTS]) await context.bytes(`${where}/${file}`);
  const { audit } = await openJudgeAudit(context.file(where));
  const rubric = settings.rubric && (await rubricOf(context, audit, settings.rubric, where));
  const again = context.scratch();
  const { code, stderr, stopped } = await context.command(
    ...["judge-audit", "--judge", settings.judge, "--limit", String(settings.limit)],
    ...["--no-cache", "--quiet", "--outdir", again, ...(rubric ? ["--rubric", rubric] : [])],
  );
  ensure(stopped === undefined && [0, 1, 2].includes(code ?? -1), {
    expected: `the command of ${where} to work again`,
    found: stopped ?? (stderr.trim().split("\n")[0] || "an error without a message"),
    where,
  });
  for (const file of [AUDIT, JUDGEMENTS]) {
    const made = await readFile(path.join(again, file));
    ensure(Buffer.compare(made, await context.bytes(`${where}/${file}`)) === 0, {
      expected: `${where} to hold what its command gives`,
      found: `another ${file} when the command was run again`,
      where: `${where}/${file}`,
      next: auditCommand(settings, name),
    });
  }
  return audit;
}

/** A file with the rubric that the audit used: a committed version of the workspace's. */
async function rubricOf(context: CheckContext, { judge }: JudgeAudit, file: string, user: string) {
  const versions = await context.versions(file);
  ensure(
    versions.some(({ text }) => text.trim() === judge.rubric),
    {
      expected: `${user} made with a committed version of ${file}`,
      found: "a rubric that is not in the history",
      where: `git log --oneline -- ${file}`,
      next: `Commit ${file} with the audit that used it.`,
    },
  );
  const copy = context.scratch();
  await writeFile(copy, judge.rubric);
  return copy;
}

/** The faults that an audit has shown. */
export const convictedOf = ({ findings }: JudgeAudit): string[] =>
  findings.filter(({ verdict }) => verdict === "convicted").map(({ fault }) => fault);

export const agreementOf = ({ measures }: JudgeAudit): string =>
  `agreement ${measures.accuracy.value?.toFixed(3)}`;
