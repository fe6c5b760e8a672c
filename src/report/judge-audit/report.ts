/** The page about an audit of a judge: what was found, intervals, two examples for each fault shown. */

import { canonicalJson, type JsonObject } from "../../core/json.ts";
import type { JudgeAudit, JudgeFinding } from "../../runs/judge-audit-schema.ts";
import { FAULT_WORDS, TRUSTED_WORDS, trustedSentence } from "../../runs/judge-audit-words.ts";
import { type OpenedJudgeAudit, openJudgeAudit } from "../../runs/read-judge-audit.ts";
import { perRun, type Section } from "../page/document.ts";
import type { Figure } from "../page/figure-tiles.ts";
import { headArticle } from "../page/head.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { grouped, many, NONE, percent, percentRange, plain } from "../page/numbers.ts";
import { LEGEND } from "../page/row-list.ts";
import type { Named } from "../page/run-names.ts";
import { settingsOfRuns } from "../page/settings.ts";
import type { Report, ReportOptions } from "../report-type.ts";
import { runsPage } from "../runs-page.ts";
import { jsonFact } from "../scored/head.ts";
import { exampleArticles, keepExamples, type ShownExamples } from "./examples.ts";
import { findingTable, intervalCharts } from "./findings.ts";
import { gateTable } from "./gate-power.ts";

interface AuditRun extends OpenedJudgeAudit, ShownExamples {
  readonly manifestJson: JsonObject;
  readonly audit: JudgeAudit;
}

type Runs = readonly Named<AuditRun>[];

const SECTIONS: readonly ((runs: Runs) => Section)[] = [
  (runs) => ({
    id: "findings",
    title: "Findings",
    body: perRun(runs, ({ run }) => html`${findingTable(run.audit)}${intervalCharts(run.audit)}`),
  }),
  (runs) => ({
    id: "gate",
    title: "What the gate detects with this judge",
    body: perRun(runs, ({ run }) => gateTable(run.audit.gate)),
  }),
  (runs) => ({
    id: "examples",
    title: "Examples",
    body: html`${LEGEND}${perRun(runs, ({ run }) => exampleArticles(run, runs.length > 1 ? 4 : 3))}`,
  }),
  settingsOfRuns,
];

export async function judgeAuditReport({ runs: dirs, ...options }: ReportOptions): Promise<Report> {
  const read: AuditRun[] = [];
  for (const dir of dirs) read.push(await readAudit(dir));
  const status = (run: AuditRun) => TRUSTED_WORDS[run.audit.trusted].toLowerCase();
  return runsPage(read, { title: "Judge audit", head, sections: SECTIONS, status }, options);
}

async function readAudit(dir: string): Promise<AuditRun> {
  const opened = await openJudgeAudit(dir);
  return {
    ...opened,
    manifestJson: JSON.parse(canonicalJson(opened.manifest)),
    examples: await keepExamples(opened),
  };
}

function head(
  { name, run: { audit, manifest, summary } }: Named<AuditRun>,
  isTitled: boolean,
): Html {
  const word = TRUSTED_WORDS[audit.trusted].toLowerCase();
  const { judge } = audit;
  return headArticle({
    name: isTitled ? name : undefined,
    word: `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    sentence: trustedSentence(audit),
    warnings: audit.findings.filter(isShown).map(warningOf),
    isOpen: audit.trusted === "undecided",
    verification: undefined,
    figures: figuresOf(audit),
    facts: [
      ["judge", `${judge.name} (${judge.endpoint})`],
      ["fingerprint", codeHtml(judge.fingerprint.slice(0, 16))],
      ["labelled data", `${manifest.data.source}: ${many(manifest.data.pairs, "pair")}`],
      ["requests", `${grouped(summary.n_requests)}, ${grouped(summary.n_dropped)} dropped`],
      jsonFact("sampling", judge.sampling),
      jsonFact("tokens", audit.tokens),
    ],
  });
}

const isShown = ({ verdict }: JudgeFinding) => verdict === "convicted";

function warningOf({ fault, effect, interval }: JudgeFinding): string {
  const { name, effect: what, next } = FAULT_WORDS[fault];
  const range = interval === null ? "" : ` (${plain(interval[0])} to ${plain(interval[1])})`;
  return `${name}: ${what}, ${plain(effect)}${range}. ${next}`;
}

function figuresOf({ measures }: JudgeAudit): Figure[] {
  const share = (label: string, { value, interval, n }: JudgeAudit["measures"]["accuracy"]) => ({
    label,
    value: value === null ? NONE : percent(value),
    note:
      interval === null ? `${many(n, "verdict")}` : `${percentRange(interval)}, n ${grouped(n)}`,
  });
  const { kendall_tau: tau } = measures;
  return [
    share("Agreement with labels", measures.accuracy),
    share("Self-agreement", measures.self_agreement),
    share("Flips with the order", measures.order_flips),
    {
      label: "Kendall's tau-b",
      value: plain(tau.value),
      note:
        tau.interval === null
          ? many(tau.n, "group")
          : `${plain(tau.interval[0])} to ${plain(tau.interval[1])}, ${many(tau.n, "group")}`,
    },
  ];
}
