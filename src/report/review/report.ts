/** The page about a review: how often the candidate was preferred, and a few labelled pairs. */

import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { requireFinished, requireKind } from "../../runs/folder-kind.ts";
import { editedReviewFiles, readReview } from "../../runs/review-folder.ts";
import type { ReviewLabel, ReviewManifest, ReviewSummary } from "../../runs/review-schemas.ts";
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

const SHOWN = 10;
/** Below it a preference for a place is more than chance. */
const LEVEL = 0.05;

interface ReviewRun {
  readonly dir: string;
  readonly manifest: ReviewManifest;
  readonly manifestJson: JsonObject;
  readonly summary: ReviewSummary;
  readonly labels: readonly ReviewLabel[];
  readonly edited: readonly string[];
}

type Runs = readonly Named<ReviewRun>[];

const SECTIONS: readonly ((runs: Runs) => Section)[] = [
  (runs) => ({ id: "choices", title: "Choices", body: choiceTable(runs) }),
  (runs) => ({
    id: "pairs",
    title: "Labelled pairs",
    body: html`${LEGEND}${perRun(runs, ({ run }) => pairList(run, runs.length > 1 ? 4 : 3))}`,
  }),
  settingsOfRuns,
];

export async function reviewReport({ runs: dirs, ...options }: ReportOptions): Promise<Report> {
  const read: ReviewRun[] = [];
  for (const dir of dirs) read.push(await readRun(dir));
  const status = (run: ReviewRun) =>
    `${many(run.summary.n_labelled, "label")}${run.edited.length === 0 ? "" : ", edited"}`;
  return runsPage(read, { title: "Review", head, sections: SECTIONS, status }, options);
}

async function readRun(dir: string): Promise<ReviewRun> {
  requireFinished(dir, await requireKind(dir, ["review"]));
  const { manifest, labels, summary } = await readReview(dir);
  const found = summary as ReviewSummary;
  const edited = await editedReviewFiles(dir, { manifest, summary: found });
  const manifestJson = JSON.parse(canonicalJson(manifest));
  return { dir, manifest, labels, edited, manifestJson, summary: found };
}

function head({ name, run }: Named<ReviewRun>, isTitled: boolean): Html {
  const { manifest, summary, edited } = run;
  const { identical, unpaired } = manifest.pairs;
  return headArticle({
    name: isTitled ? name : undefined,
    word: "Finished",
    sentence: `A person labelled ${many(summary.n_labelled, "pair")} blind, and skipped ${grouped(summary.n_skipped)}.`,
    warnings: [
      ...editedWarning(edited),
      ...(unpaired > 0 ? [`Only one of the two answered ${many(unpaired, "task")}.`] : []),
      ...placeWarning(summary),
    ],
    verification: undefined,
    figures: figuresOf(summary),
    facts: [
      ...manifest.inputs.map(
        ({ role, path: file, rows }) =>
          [role, html`${codeHtml(nameIn(file))}, ${many(rows, "row")}`] as const,
      ),
      ["identical answers", `${many(identical, "pair")}, not shown and not counted`],
      jsonFact("baseline policy", manifest.baseline),
      jsonFact("candidate policy", manifest.candidate),
      jsonFact("settings", manifest.settings),
    ],
  });
}

const nameIn = (file: string) => file.split(/[\\/]/).slice(-2).join("/");

function placeWarning({ first_p_value: p, first_chosen: first }: ReviewSummary): string[] {
  if (p === null || p >= LEVEL) return [];
  const place = first.count > first.of / 2 ? 1 : 2;
  return [`Answer ${place} was chosen more often than chance explains (p ${plain(p)}).`];
}

function figuresOf(summary: ReviewSummary): Figure[] {
  const { win_rate: rate, win_rate_interval: range, first_chosen: first } = summary;
  return [
    {
      label: "Win rate",
      value: rate === null ? NONE : percent(rate),
      note: `${intervalText(range)}, a tie counts as half`,
    },
    {
      label: "Sign test",
      value: summary.p_value === null ? NONE : plain(summary.p_value),
      note: "p of wins against losses",
    },
    {
      label: "Answer 1 chosen",
      value: first.share === null ? NONE : percent(first.share),
      note: `${intervalText(first.interval)}, 50 % by chance`,
    },
  ];
}

const intervalText = (range: readonly [number, number] | null) =>
  range === null ? "no interval" : `${percent(range[0])} to ${percent(range[1])}`;

function choiceTable(runs: Runs): Html {
  const rows = { "candidate better": "wins", "baseline better": "losses", tie: "ties" } as const;
  return barTable(
    "label",
    runs.map(({ name }) => (runs.length > 1 ? name : "pairs")),
    runs.map(({ run }) => run.summary.n_labelled),
    Object.entries(rows).map(([label, key]) => ({
      label,
      counts: runs.map(({ run }) => run.summary[key]),
    })),
  );
}

function pairList({ labels }: ReviewRun, level: number): Html {
  const rest =
    labels.length > SHOWN &&
    html`<p class="muted">${firstOf(SHOWN, labels.length, "pair")} are shown.</p>\n`;
  return html`${labels.slice(0, SHOWN).map((label) => pairArticle(label, level))}${rest}`;
}

function pairArticle({ id, prompt, a, b, better, shown_first }: ReviewLabel, level: number): Html {
  const side = (name: "a" | "b", who: string, text: string) => {
    const chosen = better === name ? " · preferred" : "";
    const place = shown_first === name ? 1 : 2;
    return html`<div><p>${who} · shown as ${place}${chosen}</p>\n<pre>${textHtml(text)}</pre></div>`;
  };
  const outcome = better === undefined ? " · skipped" : better === "tie" ? " · tie" : "";
  return html`<article class="sample">
${heading(level, html`${codeHtml(id)}${outcome}`)}<pre class="prompt">${textHtml(prompt)}</pre>
<div class="completions">${side("a", "baseline", a)}${side("b", "candidate", b)}</div>
</article>
`;
}
