/** What the gate detects with a judge of this accuracy. */

import type { GatePower, JudgeAudit } from "../../runs/judge-audit-schema.ts";
import { type Html, html } from "../page/html.ts";
import { grouped, many, NONE, percent, plain } from "../page/numbers.ts";

export function gateTable(gate: JudgeAudit["gate"]): Html {
  const {
    tasks,
    difference,
    perfect,
    measured,
    lower_bound: lower,
    accuracy_needed: needed,
  } = gate;
  const row = (name: string, at: GatePower | null) =>
    at &&
    html`<tr><th scope="row">${name}</th><td>${percent(at.accuracy)}</td><td>${plain(at.shrinkage)}</td><td>${
      at.smallest_difference === null ? NONE : percent(at.smallest_difference)
    }</td><td>${at.tasks_needed === null ? NONE : grouped(at.tasks_needed)}</td></tr>`;
  const rows = [
    row("measured", measured),
    row("lower end of its interval", lower),
    row("a judge that is always right", perfect),
  ].filter((one) => one !== null);
  return html`<p>A judge that is right with probability a shrinks a true difference of win rates by 2a − 1, so that the
tasks needed grow by 1 / (2a − 1)². With ${many(tasks, "task")}, α ${gate.alpha} and ${percent(gate.power)} power:</p>
<div class="wide"><table class="plain"><thead><tr><th scope="col">judge</th><th scope="col">accuracy a</th><th scope="col">2a − 1</th><th scope="col">smallest difference detected</th><th scope="col">tasks for ${percent(difference)}</th></tr></thead>
<tbody>${rows}</tbody></table></div>
<p>${
    needed === null
      ? `On ${many(tasks, "task")} even a judge that is always right does not detect a difference of ${percent(difference)}.`
      : `To detect ${percent(difference)} on ${many(tasks, "task")}, a judge must be right in ${percent(needed)} of comparisons.`
  }</p>
`;
}
