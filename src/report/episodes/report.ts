/** The page about rollouts in an environment: outcomes, figures of the episodes, conversations. */

import { visible } from "../../core/visible.ts";
import { businessSection } from "../business/section.ts";
import { barTable } from "../page/bars.ts";
import { documentHtml, perRun, type Section } from "../page/document.ts";
import { ROW_STYLE } from "../page/extra-style.ts";
import type { Figure } from "../page/figure-tiles.ts";
import { editedWarning, headArticle } from "../page/head.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { grouped, many, NONE, percent, percentRange, plain } from "../page/numbers.ts";
import { type Named, nameRuns } from "../page/run-names.ts";
import { settingsOfRuns } from "../page/settings.ts";
import { pageOptions } from "../page-options.ts";
import type { Report, ReportOptions } from "../report-type.ts";
import { jsonFact } from "../scored/head.ts";
import { CONVERSATION_STYLE } from "./conversations.ts";
import { episodeMetrics } from "./metrics.ts";
import { type EpisodesRun, readEpisodes } from "./read.ts";

type Runs = readonly Named<EpisodesRun>[];

const SECTIONS: readonly ((runs: Runs) => Section | undefined)[] = [
  (runs) => ({ id: "outcomes", title: "Outcomes", body: codeTable(runs) }),
  episodeMetrics,
  businessSection,
  (runs) => ({
    id: "conversations",
    title: "Conversations",
    body: perRun(runs, ({ run }) => run.conversations),
  }),
  settingsOfRuns,
];

export async function episodesReport({ runs: dirs, ...options }: ReportOptions): Promise<Report> {
  const read = [];
  for (const dir of dirs) read.push(await readEpisodes(dir, dirs.length > 1 ? 4 : 3, options));
  const runs = nameRuns(read);
  return {
    html: documentHtml({
      title: `Rollout report: ${runs.map(({ name }) => name).join(", ")}`,
      heads: runs.map((run) => head(run, runs.length > 1)),
      sections: SECTIONS.map((section) => section(runs)).filter((section) => section !== undefined),
      style: ROW_STYLE + CONVERSATION_STYLE,
      options: pageOptions(runs, options),
    }),
    runs: runs.map(({ name, run }) => ({
      name,
      status: `${many(run.rates.rows, "episode")}${run.edited.length === 0 ? "" : ", edited"}`,
    })),
  };
}

function head({ name, run }: Named<EpisodesRun>, isTitled: boolean): Html {
  const { manifest, edited, failures, rates } = run;
  const { environment, split } = manifest;
  const [failed] = failures;
  return headArticle({
    name: isTitled ? name : undefined,
    word: "Finished",
    sentence: `${many(rates.rows, "episode")} of ${many(manifest.examples.count, "task")} of ${visible(String(environment?.name))} (${split}), ${manifest.judge ? `judged by ${visible(manifest.judge.identity.name)}` : "as recorded; eval --trajectories plays them again"}.`,
    warnings: [
      ...editedWarning(edited),
      ...(failed
        ? [
            `${many(failures.length, "rollout")} failed and are in no figure; the first: ${visible(`${failed.id}, ${failed.type}: ${failed.message}`)}.`,
          ]
        : []),
    ],
    verification: run.verification,
    figures: figuresOf(run),
    facts: [
      [
        "environment",
        html`${codeHtml(`${environment?.name} ${environment?.version}`)}: ${visible(String(environment?.spec ?? ""))}`,
      ],
      jsonFact("policy", manifest.policy),
      jsonFact("prompt", manifest.prompt),
      jsonFact("sampling", manifest.sampling),
    ],
  });
}

function figuresOf({ rates, episodes, manifest, summary: { cost } }: EpisodesRun): Figure[] {
  const interval = rates.interval();
  return [
    {
      label: "Pass rate",
      value: rates.rate === null ? NONE : percent(rates.rate),
      note:
        interval === null
          ? "no episode has a reward"
          : `${percentRange(interval)}; ${grouped(rates.passed)} of ${grouped(rates.scored)} solved`,
    },
    { label: "Mean reward", value: plain(rates.meanReward), note: "over episodes with a reward" },
    {
      label: "Turns",
      value: plain(episodes?.metrics.turns?.mean ?? null),
      note: `mean; ${grouped(manifest.n)} of each task`,
    },
    {
      label: "Tokens",
      value: grouped(cost.completion_tokens),
      note: `written; read ${grouped(cost.prompt_tokens)}`,
    },
  ];
}

function codeTable(runs: Runs): Html {
  const codes = [...new Set(runs.flatMap(({ run }) => [...run.codes.keys()]))];
  const total = (code: string) =>
    runs.reduce((sum, { run }) => sum + (run.codes.get(code) ?? 0), 0);
  const isSolved = (code: string) => runs.some(({ run }) => run.manifest.solved?.includes(code));
  const rows = codes
    .sort((a, b) => total(b) - total(a) || (a < b ? -1 : 1))
    .map((code) => ({
      label: html`${codeHtml(code)}${isSolved(code) && html` <span class="chip good">solved</span>`}`,
      counts: runs.map(({ run }) => run.codes.get(code) ?? 0),
    }));
  return barTable(
    "outcome code",
    runs.map(({ name }) => (runs.length > 1 ? name : "episodes")),
    runs.map(({ run }) => run.rates.rows),
    rows,
  );
}
