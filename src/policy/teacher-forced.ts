/** Log-probs, entropies, values and exact KL of given tokens (teacher forcing). */

import { actionIndices, type TokenRow } from "../core/token-row.ts";
import { exp, mul, neg, sub } from "../graph/ops/elementwise.ts";
import { pick } from "../graph/ops/indexing.ts";
import { sum } from "../graph/ops/reduce.ts";
import { logSoftmax } from "../graph/ops/softmax.ts";
import { feedsOf, inputsOf, type Placed } from "../graph/parameters.ts";
import { Session, type SessionOptions } from "../graph/session.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";
import { stepLength } from "./cache.ts";
import { head, hiddenOf, valuesOf } from "./transformer.ts";

/** For each of the policy's own tokens in a row. */
export interface TokenStats {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  /** By the value head, before the token; empty without one. */
  readonly values: Float32Array;
  /** Exact KL divergence from the other policy's next-token distribution; empty without one. */
  readonly kl: Float32Array;
}

export interface TeacherOptions extends SessionOptions {
  /** Rows of every call, fixed so that results are batch-invariant. */
  readonly rows: number;
  /** Tokens of the longest row. */
  readonly length: number;
}

export class TeacherForced {
  readonly #architecture: Architecture;
  readonly #placed: readonly Placed[];
  readonly #options: TeacherOptions;
  readonly #sessions = new Map<string, Promise<Session>>();

  constructor(architecture: Architecture, placed: readonly Placed[], options: TeacherOptions) {
    this.#architecture = architecture;
    this.#placed = placed;
    this.#options = options;
  }

  /** With `other` parameters of the same architecture, the KL to them as well. */
  async tokenStats(
    parameters: Float32Array,
    rows: readonly TokenRow[],
    other?: Float32Array,
  ): Promise<TokenStats[]> {
    const stats: TokenStats[] = [];
    for (let at = 0; at < rows.length; at += this.#options.rows) {
      const part = rows.slice(at, at + this.#options.rows);
      stats.push(...(await this.#part(parameters, part, other)));
    }
    return stats;
  }

  async #part(
    parameters: Float32Array,
    rows: readonly TokenRow[],
    other: Float32Array | undefined,
  ): Promise<TokenStats[]> {
    const { rows: count } = this.#options;
    const length = lengthFor(rows, this.#options.length);
    const size = count * length;
    const [tokens, targets] = [new BigInt64Array(size), new BigInt64Array(size)];
    for (const [r, row] of rows.entries()) {
      for (let i = 0; i + 1 < row.tokens.length; i++) {
        tokens[r * length + i] = BigInt(row.tokens[i] as number);
        targets[r * length + i] = BigInt(row.tokens[i + 1] as number);
      }
    }
    const session = await this.#session(length, other !== undefined);
    const results = await session.run({
      ...feedsOf(parameters, this.#placed),
      ...(other && feedsOf(other, this.#placed, OTHER)),
      ...{ tokens, targets },
    });
    return rows.map((row, r) => {
      // The distribution of token i is that of the position before it.
      const at = Array.from(actionIndices(row), (i) => r * length + i - 1);
      const cut = (name: string) => {
        const all = results[name] as Float32Array | undefined;
        return all ? Float32Array.from(at, (i) => all[i] as number) : new Float32Array();
      };
      return {
        logprobs: cut("logprobs"),
        entropies: cut("entropies"),
        values: cut("values"),
        kl: cut("kl"),
      };
    });
  }

  #session(length: number, compared: boolean): Promise<Session> {
    const key = `${length} ${compared}`;
    const known = this.#sessions.get(key);
    if (known) return known;
    const { rows, length: _longest, ...options } = this.#options;
    const made = Session.create(this.#graph(rows, length, compared), options);
    this.#sessions.set(key, made);
    return made;
  }

  #graph(rows: number, length: number, compared: boolean): Record<string, Tensor> {
    const a = this.#architecture;
    const tokens = input("tokens", [rows, length], "i64");
    const targets = input("targets", [rows, length], "i64");
    const own = inputsOf(this.#placed);
    const hidden = hiddenOf(a, own, tokens);
    const all = logSoftmax(head(a, own, hidden));
    const probabilities = exp(all);
    const results: Record<string, Tensor> = {
      logprobs: pick(all, targets),
      entropies: neg(sum(mul(probabilities, all), -1)),
    };
    if (a.valueHead) results.values = valuesOf(a, own, hidden);
    if (compared) {
      const theirs = inputsOf(this.#placed, OTHER);
      const others = logSoftmax(head(a, theirs, hiddenOf(a, theirs, tokens)));
      results.kl = sum(mul(probabilities, sub(all, others)), -1);
    }
    return results;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await (await session).close();
    this.#sessions.clear();
  }
}

const OTHER = "other.";

/** The length of a graph for these rows. */
export function lengthFor(rows: readonly TokenRow[], longest: number): number {
  const most = rows.reduce((length, { tokens }) => Math.max(length, tokens.length), 1);
  return Math.max(Math.min(stepLength(most), longest), most);
}
