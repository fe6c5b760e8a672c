/** The page about preference data: which prompts have pairs, how long each side is, and a few pairs. */

import path from "node:path";
import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { MANIFEST } from "../../runs/artifacts.ts";
import type { PairRow, PairsSummary, WithoutPair } from "../../runs/preference-schemas.ts";
import { openPairs, type PreferenceData } from "../../runs/read-pairs.ts";
import { barTable } from "../page/bars.ts";
import { perRun, type Section } from "../page/document.ts";
import type { Figure } from "../page/figure-tiles.ts";
import { editedWarning, headArticle } from "../page/head.ts";
import { heading } from "../page/heading.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { grouped, many, NONE, percent, plain } from "../page/numbers.ts";
import { firstOf, LEGEND } from "../page/row-list.ts";
import type { Named } from "../page/run-names.ts";
import { settingsOfRuns } from "../page/settings.ts";
import type { Report, ReportOptions } from "../report-type.ts";
import { runsPage } from "../runs-page.ts";
import { jsonFact } from "../scored/head.ts";

const PAIRS_SHOWN = 10;

interface PairsRun extends PreferenceData {
  readonly manifestJson: JsonObject;
  readonly edited: readonly string[];
  readonly shown: readonly Html[];
}

type Runs = readonly Named<PairsRun>[];

const SECTIONS: readonly ((runs: Runs) => Section)[] = [
  (runs) => ({ id: "without", title: "Prompts without a pair", body: withoutTable(runs) }),
  (runs) => ({
    id: "pairs",
    title: "Pairs",
    body: html`${LEGEND}${perRun(runs, ({ run }) => pairList(run))}`,
  }),
  settingsOfRuns,
];

export async function pairsReport({ runs: dirs, ...options }: ReportOptions): Promise<Report> {
  const read: PairsRun[] = [];
  for (const dir of dirs) read.push(await readPairs(dir, dirs.length > 1 ? 4 : 3));
  const status = (run: PairsRun) =>
    `${many(run.summary.n_pairs, "pair")}${run.edited.length === 0 ? "" : ", edited"}`;
  return runsPage(read, { title: "Preference report", head, sections: SECTIONS, status }, options);
}

async function readPairs(dir: string, level: number): Promise<PairsRun> {
  const data = await openPairs(dir);
  const shown: Html[] = [];
  for await (const batch of data.pairs().batches()) {
    shown.push(
      ...batch.slice(0, PAIRS_SHOWN - shown.length).map((pair) => pairArticle(pair, level)),
    );
    if (shown.length >= PAIRS_SHOWN) break;
  }
  const edited: string[] = data.manifestIntact ? [] : [MANIFEST];
  for (const [name, hash] of Object.entries(data.summary.files)) {
    if ((await data.hashOf(name)) !== hash) edited.push(name);
  }
  return { ...data, edited, shown, manifestJson: JSON.parse(canonicalJson(data.manifest)) };
}

function head({ name, run }: Named<PairsRun>, isTitled: boolean): Html {
  const { manifest, summary, edited } = run;
  const broken = summary.n_scorer_errors;
  return headArticle({
    name: isTitled ? name : undefined,
    word: "Finished",
    sentence: `${many(summary.n_pairs, "pair")} and ${many(summary.n_labels, "label")} from ${many(summary.n_samples, "sample")}.`,
    warnings: [
      ...editedWarning(edited),
      ...(broken > 0
        ? [`The scorer failed on ${many(broken, "sample")}, which are neither paired nor labelled.`]
        : []),
    ],
    verification: undefined,
    figures: figuresOf(summary),
    facts: [
      ...manifest.inputs.map(
        ({ role, path: file, rows }) =>
          [
            role,
            html`${file === null ? "from memory" : codeHtml(path.basename(file))}, ${many(rows, "row")}`,
          ] as const,
      ),
      ["scorer", `${manifest.scorer.name} ${manifest.scorer.version}`],
      jsonFact("policy", manifest.policy),
      jsonFact("sampling", manifest.sampling),
      jsonFact("settings", manifest.settings),
    ],
  });
}

function figuresOf(summary: PairsSummary): Figure[] {
  const { n_prompts: prompts, n_with_pair: paired, n_good, n_bad, n_pairs, n_eligible } = summary;
  const lengths = summary.mean_tokens ?? summary.mean_characters;
  return [
    {
      label: "Prompts with a pair",
      value: prompts === 0 ? NONE : percent(paired / prompts),
      note: `${grouped(paired)} of ${grouped(prompts)}`,
    },
    {
      label: "Pairs",
      value: grouped(n_pairs),
      note: `of ${grouped(n_eligible)} that could be made`,
    },
    {
      label: "Labels",
      value: grouped(n_good + n_bad),
      note: `${grouped(n_good)} good, ${grouped(n_bad)} bad`,
    },
    {
      label: "Mean length",
      value: lengths === null ? NONE : `${plain(lengths.chosen)} / ${plain(lengths.rejected)}`,
      note: `${summary.mean_tokens ? "tokens" : "characters"}, chosen / rejected`,
    },
  ];
}

const WHY: Record<WithoutPair, string> = {
  no_samples: "no samples",
  scorer_error: "the scorer failed",
  invalid_example: "invalid for the scorer",
  all_passed: "all samples passed",
  all_failed: "all samples failed",
  below_margin: "rewards closer than the margin",
  no_length_match: "no two of similar length",
};

function withoutTable(runs: Runs): Html {
  const reasons = (Object.keys(WHY) as WithoutPair[]).filter((reason) =>
    runs.some(({ run }) => run.summary.without_pair[reason] > 0),
  );
  if (reasons.length === 0) return html`<p>Every prompt has a pair.</p>\n`;
  return barTable(
    "reason",
    runs.map(({ name }) => (runs.length > 1 ? name : "prompts")),
    runs.map(({ run }) => run.summary.n_prompts),
    reasons.map((reason) => ({
      label: WHY[reason],
      counts: runs.map(({ run }) => run.summary.without_pair[reason]),
    })),
  );
}

function pairList({ shown, summary }: PairsRun): Html {
  if (shown.length === 0) return html`<p>No pairs.</p>\n`;
  const rest =
    summary.n_pairs > shown.length &&
    html`<p class="muted">${firstOf(shown.length, summary.n_pairs, "pair")} are shown.</p>\n`;
  return html`${shown}${rest}`;
}

function pairArticle({ id, prompt, ...pair }: PairRow, level: number): Html {
  const side = (name: string, text: string, reward: number) =>
    html`<div><p>${name} · reward ${plain(reward)}</p>\n<pre>${textHtml(text)}</pre></div>`;
  return html`<article class="sample">
${heading(level, codeHtml(id))}<pre class="prompt">${textHtml(prompt)}</pre>
<div class="completions">${side("chosen", pair.chosen, pair.chosen_reward)}${side("rejected", pair.rejected, pair.rejected_reward)}</div>
</article>
`;
}
