/** What an audit found: a table, and the intervals beside their margins. */

import type { JudgeAudit, JudgeFinding } from "../../runs/judge-audit-schema.ts";
import { FAULT_WORDS } from "../../runs/judge-audit-words.ts";
import { type Html, html } from "../page/html.ts";
import { intervalFigure } from "../page/interval-chart.ts";
import { grouped, NONE, plain, pValue } from "../page/numbers.ts";

export function findingTable({ findings, alpha }: JudgeAudit): Html {
  const rows = findings.map(
    (one) =>
      html`<tr><th scope="row">${FAULT_WORDS[one.fault].name}</th><td>${one.verdict}</td><td>${FAULT_WORDS[one.fault].effect}</td><td>${plain(one.effect)}</td><td>${
        one.interval === null ? NONE : `${plain(one.interval[0])} to ${plain(one.interval[1])}`
      }</td><td>${margin(one)}</td><td>${pValue(one.p_adjusted)}</td><td>${grouped(one.n)}</td></tr>`,
  );
  return html`<p>A fault is shown where its test is significant at ${alpha} after Holm's correction for all tests of the
audit, so that an honest judge is convicted of anything in at most ${100 * alpha} % of audits. It is ruled out where the
interval excludes an effect of the margin.</p>
<div class="wide"><table class="plain"><thead><tr><th scope="col">fault</th><th scope="col">verdict</th><th scope="col">effect</th><th scope="col">estimate</th><th scope="col">95 % interval</th><th scope="col">margin</th><th scope="col">p (Holm)</th><th scope="col">verdicts</th></tr></thead>
<tbody>${rows}</tbody></table></div>
`;
}

const margin = ({ fault, margin: value }: JudgeFinding) =>
  fault === "agreement" ? `at least ${plain(value)}` : `below ${plain(value)}`;

/** Score gains and shares have axes of their own. */
export function intervalCharts({ findings }: JudgeAudit): Html {
  return html`<div class="charts">${(["score", "share"] as const).map((unit) =>
    chartOf(
      findings.filter(({ fault }) => FAULT_WORDS[fault].unit === unit),
      unit,
    ),
  )}</div>
`;
}

function chartOf(findings: readonly JudgeFinding[], unit: "score" | "share"): Html | undefined {
  const estimates = findings.flatMap(({ fault, effect, interval }) =>
    effect === null || interval === null
      ? []
      : [{ label: FAULT_WORDS[fault].name, value: effect, low: interval[0], high: interval[1] }],
  );
  if (estimates.length === 0) return undefined;
  const margins = [
    ...new Set(findings.flatMap(({ fault, margin: m }) => (fault === "position" ? [-m, m] : [m]))),
  ];
  return intervalFigure({
    title: unit === "score" ? "Score gained without merit" : "Shares of verdicts",
    subtitle: "estimates with 95 % intervals; dashed lines: margins",
    x: { label: unit === "score" ? "mean gain of score" : "share" },
    estimates,
    verticals: margins.map((x) => ({
      x,
      label: plain(x),
      side: x < 0 ? ("left" as const) : ("right" as const),
    })),
  });
}
