/** Two requests for each fault that was shown: the attempts with their scores. */

import type { AuditJudgement, JudgeAudit, JudgeFinding } from "../../runs/judge-audit-schema.ts";
import { FAULT_WORDS, PROBE_WORDS } from "../../runs/judge-audit-words.ts";
import type { OpenedJudgeAudit } from "../../runs/read-judge-audit.ts";
import { heading } from "../page/heading.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { NONE, plain } from "../page/numbers.ts";

const keyOf = ({ id, probe }: Pick<AuditJudgement, "id" | "probe">) => `${probe} ${id}`;

/** In one pass: judgements may be many. */
export async function keepExamples(run: OpenedJudgeAudit): Promise<AuditJudgement[]> {
  const wanted = new Set(run.audit.findings.flatMap(({ examples }) => examples.map(keyOf)));
  const kept: AuditJudgement[] = [];
  for await (const batch of run.judgements().batches())
    kept.push(...batch.filter((one) => wanted.has(keyOf(one))));
  return kept;
}

export interface ShownExamples {
  readonly audit: JudgeAudit;
  /** The requests that findings name. */
  readonly examples: readonly AuditJudgement[];
}

export function exampleArticles({ audit, examples }: ShownExamples, level: number): Html {
  const shown = audit.findings.filter(({ verdict }) => verdict === "convicted");
  if (shown.length === 0)
    return html`<p>No fault was shown, so there is nothing to show here.</p>\n`;
  return html`${shown.map((finding) => examplesOf(finding, examples, level))}`;
}

function examplesOf(
  { fault, examples: named }: JudgeFinding,
  judgements: readonly AuditJudgement[],
  level: number,
): Html {
  const found = named.flatMap((one) => judgements.filter((other) => keyOf(other) === keyOf(one)));
  return html`${heading(level, FAULT_WORDS[fault].name)}${found.map((one) => article(one, level + 1))}`;
}

function article(judgement: AuditJudgement, level: number): Html {
  const { id, probe, wording, prompt, attempts, dropped } = judgement;
  const sides = attempts.map(
    ({ name, score, text, explanation }) =>
      html`<div><p>${name} · score ${score === null ? NONE : plain(score)}</p>\n<pre>${textHtml(text)}</pre>${
        explanation !== "" && html`<p class="reason">${textHtml(explanation, 300)}</p>`
      }</div>`,
  );
  return html`<article class="sample">
${heading(level, html`${codeHtml(id)}: ${PROBE_WORDS[probe]}${wording !== undefined && `, wording ${wording}`}`)}${
  dropped !== null &&
  html`<p class="reason">${dropped.type}: ${textHtml(dropped.message, 400)}</p>\n`
}<pre class="prompt">${textHtml(prompt)}</pre>
<div class="completions">${sides}</div>
</article>
`;
}
