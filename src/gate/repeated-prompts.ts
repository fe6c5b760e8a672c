/**
 * Finds prompts that occur more than once. Eight bytes per row are kept: a hash that ignores case and
 * white space, so it is equal wherever the normalised prompts are. Only where two are equal are the
 * rows read a second time, and then the normalised prompts themselves are compared.
 */

import { normalisedPrompt, promptFingerprint } from "../core/prompt-fingerprint.ts";
import type { Run } from "../runs/reader.ts";
import { RowCursor } from "../runs/rows.ts";
import { ClusterCounts } from "../stats/cluster-counts.ts";
import { datasetOf } from "./history.ts";
import { comparedValue } from "./judged.ts";
import { PairSlices } from "./pair-slices.ts";

const CHUNK = 8192;

export class PromptHashes {
  readonly #chunks: Float64Array[] = [];
  #count = 0;

  add(prompt: string): void {
    const at = this.#count++ % CHUNK;
    if (at === 0) this.#chunks.push(new Float64Array(CHUNK));
    (this.#chunks.at(-1) as Float64Array)[at] = looseHash(prompt);
  }

  /** The hashes that were added more than once. */
  repeated(): Set<number> {
    const sorted = new Float64Array(this.#count);
    this.#chunks.forEach((chunk, i) => {
      sorted.set(chunk.subarray(0, this.#count - i * CHUNK), i * CHUNK);
    });
    sorted.sort();
    return new Set(sorted.filter((hash, i) => i > 0 && hash === sorted[i - 1]));
  }
}

export interface Clusters {
  readonly whole: ClusterCounts;
  /** By value of the slice that was asked for. */
  readonly bySlice: ReadonlyMap<string, ClusterCounts>;
  readonly byAxis: ReadonlyMap<string, ClusterCounts>;
}

/**
 * The differences of two runs whose rows are paired, in clusters of one prompt each; undefined where no
 * prompt of a data set repeats.
 */
export async function clustersOf(
  baseline: Run,
  candidate: Run,
  repeated: ReadonlySet<number>,
  slice?: string,
  axes: readonly string[] = [],
): Promise<Clusters | undefined> {
  // Episodes of an experiment without a data set all begin with the same prompt.
  if (repeated.size === 0 || !datasetOf(baseline.manifest)) return undefined;
  const isJudged = baseline.manifest.judge !== undefined;
  const whole = new OpenClusters();
  const bySlice = new Map<string, OpenClusters>();
  const sliced = await PairSlices.open(slice, baseline, candidate);
  const byAxis = new Map(axes.map((name) => [name, new OpenClusters()]));
  const [before, after] = [new RowCursor(baseline.results()), new RowCursor(candidate.results())];
  try {
    for (;;) {
      const one = before.buffered() ?? (await before.read());
      const other = after.buffered() ?? (await after.read());
      if (!one || !other) break;
      const value = await sliced?.of(one, other);
      const [was, is] = [comparedValue(one, isJudged), comparedValue(other, isJudged)];
      if (was === null || is === null) continue;
      const change = is - was;
      const prompt = repeated.has(looseHash(one.prompt))
        ? promptFingerprint(normalisedPrompt(one.prompt))
        : undefined;
      whole.add(change, prompt);
      for (const [name, counts] of byAxis) {
        const [from, to] = [one.axes?.[name]?.reward, other.axes?.[name]?.reward];
        if (typeof from === "number" && typeof to === "number") counts.add(to - from, prompt);
      }
      if (value === undefined) continue;
      const counts = bySlice.get(value) ?? new OpenClusters();
      bySlice.set(value, counts);
      counts.add(change, prompt);
    }
  } finally {
    await before.close();
    await after.close();
    await sliced?.close();
  }
  const counts = whole.close();
  if (counts.clusters === counts.rows) return undefined;
  return {
    whole: counts,
    bySlice: new Map([...bySlice].map(([value, clusters]) => [value, clusters.close()])),
    byAxis: new Map([...byAxis].map(([name, clusters]) => [name, clusters.close()])),
  };
}

/** Clusters whose rows are still coming. */
class OpenClusters {
  readonly #counts = new ClusterCounts();
  readonly #open = new Map<string, { sum: number; size: number }>();

  /** Without a prompt the row is a cluster of its own. */
  add(change: number, prompt: string | undefined): void {
    if (prompt === undefined) {
      this.#counts.add(change, 1);
      return;
    }
    const { sum, size } = this.#open.get(prompt) ?? { sum: 0, size: 0 };
    this.#open.set(prompt, { sum: sum + change, size: size + 1 });
  }

  close(): ClusterCounts {
    for (const { sum, size } of this.#open.values()) this.#counts.add(sum, size);
    return this.#counts;
  }
}

const PLAIN = /^[\0-\x7f]*$/;

/**
 * 53 bits of a prompt without white space, control characters and case. In ASCII these are all that
 * normalising removes, so it is done for other texts only. Two FNV-1a hashes with different factors.
 */
export function looseHash(prompt: string): number {
  const text = PLAIN.test(prompt) ? prompt : normalisedPrompt(prompt);
  let [high, low] = [0x811c9dc5, 0x9e3779b9];
  for (let i = 0; i < text.length; i++) {
    let unit = text.charCodeAt(i);
    if (unit <= 32 || unit === 127) continue;
    if (unit >= 65 && unit <= 90) unit += 32;
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5bd1e995);
    low ^= low >>> 15;
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
