/** Log-probs, entropies, values and exact KL of given tokens (teacher forcing). */

import { actionCount, type TokenRow } from "../core/token-row.ts";
import { exp, mul, neg, sub } from "../graph/ops/elementwise.ts";
import { sum } from "../graph/ops/reduce.ts";
import { inputsOf, type Placed } from "../graph/parameters.ts";
import { type Data, graphFile } from "../graph/session.ts";
import type { Tensor } from "../graph/tensor.ts";
import { type Architecture, attentionLength } from "./architecture.ts";
import { boundTo } from "./lane.ts";
import type { Lanes } from "./lanes.ts";
import { OpenGraphs } from "./open-graphs.ts";
import { packedFeeds } from "./packed-feeds.ts";
import { packedInputs, packedPolicy } from "./packed-graph.ts";
import { type PackShape, packRows } from "./packing.ts";

/** For each of the policy's own tokens in a row. */
export interface TokenStats {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  /** By the value head, before the token; empty without one. */
  readonly values: Float32Array;
  /** Exact KL divergence from the other policy's next-token distribution; empty without one. */
  readonly kl: Float32Array;
}

export interface TeacherOptions {
  /** Each row for itself, see `packRows`. */
  readonly unpacked?: boolean | undefined;
}

/** Rows that are packed together: the time for packing grows with the square of their number. */
const AT_ONCE = 2048;

export class TeacherForced {
  readonly #architecture: Architecture;
  readonly #placed: readonly Placed[];
  readonly #lanes: Lanes;
  readonly #options: TeacherOptions;
  readonly #graphs: OpenGraphs;

  constructor(
    architecture: Architecture,
    placed: readonly Placed[],
    lanes: Lanes,
    options: TeacherOptions = {},
  ) {
    this.#architecture = architecture;
    this.#placed = placed;
    this.#lanes = lanes;
    this.#options = options;
    this.#graphs = new OpenGraphs(lanes, "stats");
  }

  /** By a vector of weights that the lanes hold; with an `other`, the KL to it as well. */
  async tokenStats(
    vector: string,
    rows: readonly TokenRow[],
    other?: string,
  ): Promise<TokenStats[]> {
    const stats: TokenStats[] = [];
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      for (const one of await this.#block(vector, rows.slice(at, at + AT_ONCE), other)) {
        stats.push(one);
      }
    }
    return stats;
  }

  async #block(
    vector: string,
    rows: readonly TokenRow[],
    other: string | undefined,
  ): Promise<TokenStats[]> {
    const { shape, parts } = packRows(rows, {
      ...this.#options,
      attentionLength: attentionLength(this.#architecture),
    });
    const compared = other !== undefined;
    const key = await this.#graphs.open({ ...shape, compared }, () =>
      graphFile(this.#graph(shape, compared), { threads: this.#lanes.threads, keepMemory: false }),
    );
    const bound = [
      ...boundTo(vector, this.#placed),
      ...(compared ? boundTo(other, this.#placed, OTHER) : []),
    ];
    const feeds = parts.map((part) => () => packedFeeds(part, shape));
    const stats: TokenStats[] = [];
    let next = 0;
    for await (const results of this.#lanes.run(key, feeds, bound)) {
      for (const { row, target } of parts[next++]?.rows ?? []) {
        stats[row] = statsOf(results, target, actionCount(rows[row] as TokenRow));
      }
    }
    return stats;
  }

  #graph(shape: PackShape, compared: boolean): Record<string, Tensor> {
    const a = this.#architecture;
    const inputs = packedInputs(shape);
    const { all, logprobs, values } = packedPolicy(a, inputsOf(this.#placed), inputs);
    const probabilities = exp(all);
    const entropies = neg(sum(mul(probabilities, all), -1));
    const results: Record<string, Tensor> = { logprobs, entropies };
    if (a.valueHead) results.values = values();
    if (compared) {
      const theirs = packedPolicy(a, inputsOf(this.#placed, OTHER), inputs);
      results.kl = sum(mul(probabilities, sub(all, theirs.all)), -1);
    }
    return results;
  }
}

const OTHER = "other.";

function statsOf(results: Readonly<Record<string, Data>>, at: number, count: number): TokenStats {
  const cut = (name: string) => {
    const all = results[name] as Float32Array | undefined;
    return all ? all.slice(at, at + count) : new Float32Array();
  };
  return {
    logprobs: cut("logprobs"),
    entropies: cut("entropies"),
    values: cut("values"),
    kl: cut("kl"),
  };
}
