/** Graphs of many sizes on lanes: each holds memory, so only those used last stay open. */

import type { GraphFile } from "../graph/session.ts";
import type { Lanes } from "./lanes.ts";

const MOST = 8;

export class OpenGraphs {
  readonly #lanes: Lanes;
  readonly #name: string;
  /** Keys, the one not used for longest first. */
  readonly #open = new Set<string>();

  /** The name distinguishes graphs of different kinds on the same lanes. */
  constructor(lanes: Lanes, name: string) {
    this.#lanes = lanes;
    this.#name = name;
  }

  /** Opens the graph of this shape unless it is open; returns its key. */
  async open(shape: object, file: () => GraphFile): Promise<string> {
    const key = `${this.#name} ${JSON.stringify(shape)}`;
    const known = this.#open.delete(key);
    if (!known) await this.#lanes.open(key, file());
    this.#open.add(key);
    const [oldest] = this.#open;
    if (this.#open.size > MOST && oldest !== undefined) await this.#drop(oldest);
    return key;
  }

  async close(): Promise<void> {
    for (const key of this.#open) await this.#drop(key);
  }

  async #drop(key: string): Promise<void> {
    this.#open.delete(key);
    await this.#lanes.drop(key);
  }
}
