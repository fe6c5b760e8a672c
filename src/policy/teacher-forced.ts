/** What a policy makes of completions that are already there: log-probs, entropies, values, exact KL. */

import { exp, mul, neg, sub } from "../graph/ops/elementwise.ts";
import { pick } from "../graph/ops/indexing.ts";
import { sum } from "../graph/ops/reduce.ts";
import { logSoftmax } from "../graph/ops/softmax.ts";
import { feedsOf, inputsOf, type Placed } from "../graph/parameters.ts";
import { Session, type SessionOptions } from "../graph/session.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";
import { stepLength } from "./lengths.ts";
import { head, hiddenOf, valuesOf } from "./transformer.ts";

/** A prompt with a completion. */
export interface Written {
  readonly tokens: readonly number[];
  /** How many of the tokens are the prompt's. */
  readonly prompt: number;
}

/** For each token of a completion. */
export interface TokenStats {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  /** By the value head, before the token; empty without one. */
  readonly values: Float32Array;
  /** Exact KL of the next-token distribution to the other policy's; empty without one. */
  readonly kl: Float32Array;
}

export interface TeacherOptions extends SessionOptions {
  /** Rows of every call, for the reason that a decoder has. */
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
  async judge(
    parameters: Float32Array,
    rows: readonly Written[],
    other?: Float32Array,
  ): Promise<TokenStats[]> {
    const judged: TokenStats[] = [];
    for (let at = 0; at < rows.length; at += this.#options.rows) {
      const part = rows.slice(at, at + this.#options.rows);
      judged.push(...(await this.#part(parameters, part, other)));
    }
    return judged;
  }

  async #part(
    parameters: Float32Array,
    rows: readonly Written[],
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
      const [start, end] = [r * length + row.prompt - 1, r * length + row.tokens.length - 1];
      const cut = (name: string) =>
        ((results[name] as Float32Array | undefined) ?? new Float32Array()).slice(start, end);
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

/** How long the rows of a graph must be for these. */
export function lengthFor(rows: readonly Written[], longest: number): number {
  const most = rows.reduce((length, { tokens }) => Math.max(length, tokens.length), 1);
  return Math.max(Math.min(stepLength(most), longest), most);
}
