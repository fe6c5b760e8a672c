/** The section about business constraints: a column for each run, then the alias in words. */

import { describePolicy } from "../../core/same-policy.ts";
import { visible } from "../../core/visible.ts";
import type { Latency } from "../../runs/timing-schema.ts";
import type { Section } from "../page/document.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { duration, grouped, many, moneyText, NONE, percent, plain } from "../page/numbers.ts";
import type { Named } from "../page/run-names.ts";
import type { Business, NamedBy, Safety, Usage } from "./business.ts";

type Runs = readonly Named<{ readonly business: Business }>[];

export function businessSection(runs: Runs): Section {
  const all = runs.map(({ run }) => run.business);
  const row = (label: string, read: (one: Business) => string | Html) =>
    html`<tr><th scope="row">${label}</th>${all.map((one) => html`<td>${read(one)}</td>`)}</tr>\n`;
  const ofUsage = (read: (usage: Usage) => string | Html) => (one: Business) =>
    typeof one.usage === "string" ? NONE : read(one.usage);
  const head =
    runs.length > 1 &&
    html`<thead><tr><td></td>${runs.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>\n`;
  const alias = all.find((one) => one.alias)?.alias;
  return {
    id: "business",
    title: "Cost, latency, risk",
    body: html`<div class="wide"><table class="plain">
${head}<tbody>
${row(
  "completions",
  ofUsage(completionsText),
)}${row("tokens in and out", ofUsage(tokensText))}${row("cost", ofUsage(costText))}${row(
  "cost of 1,000 completions",
  ofUsage(({ money: ofTokens, machine, completions }) => {
    const money = ofTokens ?? machine?.money;
    return money === undefined || completions === 0
      ? NONE
      : moneyText((1000 * money) / completions);
  }),
)}${row("machine time", ofUsage(machineText))}${row(
  "latency of a completion",
  ofUsage(({ timing }) => latencyText(timing?.completions)),
)}${row(
  "latency of an episode",
  ofUsage(({ timing }) => latencyText(timing?.episodes)),
)}${row("throughput", ofUsage(throughputText))}${row("safety risk", safetyText)}</tbody>
</table></div>
${remarks(runs).map((text) => html`<p class="muted">${text}</p>\n`)}${aliasText(alias, runs)}`,
  };
}

function completionsText({ completions, perExample, episodes }: Usage): string {
  if (episodes !== undefined)
    return `${grouped(completions)} turns of ${many(episodes, "episode")}`;
  return perExample === 1
    ? grouped(completions)
    : `${grouped(completions)}, ${grouped(perExample)} for each example`;
}

function tokensText({ tokensIn, tokensOut, uncounted }: Usage): string {
  const missing = uncounted > 0 ? `; ${many(uncounted, "completion")} without a count` : "";
  return `${grouped(tokensIn)} and ${grouped(tokensOut)}${missing}`;
}

function costText({ money, machine, prices, isLocal, uncounted }: Usage): string {
  if (money === undefined && machine) return `${moneyText(machine.money)} of machine time`;
  if (money === undefined) return isLocal ? "0, a local policy" : "no price given";
  const least = uncounted > 0 ? "at least " : "";
  return `${least}${moneyText(money)} at ${plain(prices?.in)} and ${plain(prices?.out)} for a million tokens`;
}

function machineText({ timing, isLocal, machine }: Usage): string {
  if (!isLocal) return "of the endpoint, not known";
  if (timing === undefined || timing.seconds === 0) return "not measured";
  const time = `${duration(timing.seconds)}${machine?.isPart ? ", of the part after the last resume" : ""}`;
  return machine === undefined
    ? time
    : `${time}: ${moneyText(machine.money)} at ${plain(machine.pricePerHour)} per hour`;
}

function latencyText(latency: Latency | undefined): string {
  if (latency === undefined || latency.n === 0) return "not measured";
  const { p50_ms, p90_ms, p99_ms, n } = latency;
  return `p50 ${plain(p50_ms)} ms, p90 ${plain(p90_ms)} ms, p99 ${plain(p99_ms)} ms (${grouped(n)})`;
}

function throughputText({ timing }: Usage): string {
  if (timing === undefined || timing.tokens === 0 || timing.seconds === 0) return "not measured";
  return `${plain(timing.tokens / timing.seconds)} tokens per second`;
}

function safetyText({ safety, isScored }: Business): string {
  if (safety) return measuredSafety(safety);
  return isScored
    ? "not recorded: evaluate with --axis safety; the failure table has what the embedded axis finds in these rows"
    : "not measured: a rollout is not scored";
}

/** The score of the axis is 1 where nothing is wrong. */
function measuredSafety({ mean, scored, errors, codes }: Safety): string {
  if (mean === null || scored === 0) return "not measured: the axis safety scored no row";
  const failed = errors > 0 ? `; ${many(errors, "row")} not scored` : "";
  const found = Object.entries(codes)
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .slice(0, 5)
    .map(([code, n]) => `${visible(code)} ${grouped(n)}`);
  return `axis safety: mean ${plain(mean)} over ${many(scored, "row")}${failed} (${found.join(", ")})`;
}

const PRICE = "Give a price with --price-in and --price-out.";
const MACHINE = "Give the price of the machine with --price-per-hour.";

/** What a reader must know of the figures above. */
function remarks(runs: Runs): string[] {
  const usages = runs.map(({ run }) => run.business.usage);
  const unknown = [...new Set(usages.filter((usage) => typeof usage === "string"))];
  const known = usages.filter((usage) => typeof usage !== "string");
  const isFree = known.some(
    ({ money, machine, isLocal }) => money === undefined && machine === undefined && isLocal,
  );
  const isUnpriced = known.some(({ money, isLocal }) => money === undefined && !isLocal);
  const isTimed = known.some(({ timing }) => timing !== undefined);
  return [
    ...unknown.map((why) => `Tokens, cost and latency are not known: ${why}.`),
    ...(isFree ? [`A local policy costs machine time, which is not in its cost. ${MACHINE}`] : []),
    ...(isUnpriced && !isFree ? [PRICE] : []),
    ...(isTimed
      ? [`Latency was measured once, with the concurrency of the rollout. ${episodeText(known)}`]
      : []),
  ];
}

function episodeText(known: readonly Usage[]): string {
  if (known.some(({ episodes }) => episodes !== undefined))
    return "An episode takes as long as its turns together, without the time of the environment.";
  const several = known.find(({ perExample }) => perExample > 1);
  return `An episode is an example with all of its completions${several ? `, here ${grouped(several.perExample)}, and` : ", and"} lasts as long as the slowest.`;
}

type Holders = readonly Named<{ readonly business: Pick<Business, "alias"> }>[];

/** Blast radius and rollback: what the alias names, what uses it, and the way back. */
export function aliasText(alias: NamedBy | undefined, runs: Holders): Html {
  if (!alias) {
    return html`<h3>Blast radius and rollback</h3>
<p>Not known: no alias is given. --alias NAME shows what uses it, and the way back.</p>
`;
  }
  const { name, flag, entry, source, before } = alias;
  const holders = runs.filter(({ run }) => run.business.alias?.isThis).map((one) => one.name);
  const isPromoted = runs.at(-1)?.run.business.alias?.isThis ?? false;
  const way = codeHtml(`lockedroom rollback --alias ${flag} --reason "…"`);
  const which =
    holders.length === 0
      ? "No policy of this page is the one that it names."
      : `That is the policy of ${holders.map(article).join(" and ")}.`;
  return html`<h3>Blast radius</h3>
<p>The alias ${codeHtml(name)} names ${codeHtml(source)} (${visible(describePolicy(entry.policy))}), entry ${grouped(entry.number)} of its history. ${which}</p>
<p>${statedText(entry.stated)}</p>
<h3>Rollback</h3>
<p>${
    before
      ? html`The policy before is ${codeHtml(before.source)}, entry ${grouped(before.number)}; ${way} returns to it.`
      : "It is the first policy of the alias: there is none to return to yet."
  }${!isPromoted && html` After a promotion, ${before ? "the same command" : way} returns to ${codeHtml(source)}.`}</p>
`;
}

/** The two sides of a comparison are no names of runs. */
const article = (name: string) =>
  name === "baseline" || name === "candidate" ? `the ${name}` : name;

function statedText({
  used_by: usedBy,
  traffic,
}: {
  readonly used_by: readonly string[];
  readonly traffic: number | null;
}): string {
  if (usedBy.length === 0 && traffic === null)
    return "What uses it is not stated. Say it with promote --used-by and --traffic.";
  const users = usedBy.length > 0 ? `It is used by ${usedBy.map(visible).join(", ")}` : "";
  const share =
    traffic === null
      ? ""
      : `${users === "" ? "It gets" : " and gets"} ${percent(traffic)} of the traffic`;
  return `${users}${share}. This is stated by whoever promoted it, and not measured.`;
}
