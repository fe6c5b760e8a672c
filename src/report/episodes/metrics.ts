/** Turns, episodes that were cut short, and the figures of the environment, one column for each run. */

import type { EpisodesSummary } from "../../stats/episode-means.ts";
import type { Section } from "../page/document.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { grouped, NONE, percent, plain } from "../page/numbers.ts";
import type { Named } from "../page/run-names.ts";

interface WithEpisodes {
  readonly episodes: EpisodesSummary | undefined;
}

export function episodeMetrics(runs: readonly Named<WithEpisodes>[]): Section | undefined {
  if (runs.every(({ run }) => run.episodes === undefined)) return undefined;
  const all = new Set(runs.flatMap(({ run }) => Object.keys(run.episodes?.metrics ?? {})));
  const names = ["turns", ...[...all].filter((name) => name !== "turns").sort()];
  const heads = runs.map(
    ({ name }) => html`<th scope="col">${runs.length > 1 ? name : "mean (least to most)"}</th>`,
  );
  const rows = names.map((name) => {
    const cells = runs.map(({ run }) => html`<td>${cellOf(run.episodes, name)}</td>`);
    return html`<tr><th scope="row">${codeHtml(name)}</th>${cells}</tr>\n`;
  });
  const cut = runs.map(({ run }) => html`<td>${truncated(run.episodes)}</td>`);
  const body = html`<div class="wide"><table><thead><tr><th scope="col">metric of an episode</th>${heads}</tr></thead>
<tbody>
${rows}<tr><th scope="row">cut short</th>${cut}</tr>
</tbody></table></div>
`;
  return { id: "episodes", title: "Episodes", body };
}

function cellOf(episodes: EpisodesSummary | undefined, name: string): Html | string {
  const found = episodes?.metrics[name];
  if (!found) return NONE;
  const { n, mean, least, most } = found;
  const some = n === episodes?.n ? "" : `; ${grouped(n)} episodes`;
  return html`${plain(mean)} <span class="muted">(${plain(least)} to ${plain(most)}${some})</span>`;
}

function truncated(episodes: EpisodesSummary | undefined): string {
  if (!episodes) return NONE;
  return `${grouped(episodes.truncated)} of ${grouped(episodes.n)}, ${percent(episodes.truncated / episodes.n)}`;
}
