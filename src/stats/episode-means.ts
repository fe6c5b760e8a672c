/** How many episodes were cut short, and the mean of each figure that their environment gives. */

interface Episode {
  readonly turns: number;
  readonly terminated: boolean;
  readonly metrics: Readonly<Record<string, number>>;
}

export interface EpisodesSummary {
  readonly n: number;
  readonly truncated: number;
  /** By name; `n` is the number of episodes that have the figure. */
  readonly metrics: Record<string, { n: number; mean: number; least: number; most: number }>;
}

export class EpisodeMeans {
  #n = 0;
  #truncated = 0;
  readonly #figures = new Map<string, { n: number; sum: number; least: number; most: number }>();

  add(episode: Episode | undefined): void {
    if (!episode) return;
    this.#n++;
    if (!episode.terminated) this.#truncated++;
    const figures = { ...episode.metrics, turns: episode.turns };
    for (const [name, value] of Object.entries(figures)) this.#addFigure(name, value);
  }

  #addFigure(name: string, value: number): void {
    const known = this.#figures.get(name);
    if (!known) {
      this.#figures.set(name, { n: 1, sum: value, least: value, most: value });
      return;
    }
    known.n++;
    known.sum += value;
    known.least = Math.min(known.least, value);
    known.most = Math.max(known.most, value);
  }

  /** Undefined without an episode. */
  table(): EpisodesSummary | undefined {
    if (this.#n === 0) return undefined;
    const sorted = [...this.#figures].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      n: this.#n,
      truncated: this.#truncated,
      metrics: Object.fromEntries(
        sorted.map(([name, { n, sum, least, most }]) => [name, { n, mean: sum / n, least, most }]),
      ),
    };
  }
}
