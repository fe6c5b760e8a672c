/** The identity of the examples a run used, whatever file or order of keys they came in. */

import { dataError, messageOf } from "../core/errors.ts";
import { SequenceFingerprint } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { Manifest } from "../runs/schemas.ts";

export class ExampleFingerprints {
  readonly #whole = new SequenceFingerprint();
  readonly #prompts = new SequenceFingerprint();
  #count = 0;

  add(example: Example): void {
    try {
      this.#whole.add(canonicalJson(example));
    } catch (error) {
      throw dataError(
        `example ${JSON.stringify(example.id)}: ${messageOf(error)}`,
        "Write the value as a string.",
      );
    }
    this.#prompts.add(JSON.stringify([example.id, example.prompt]));
    this.#count++;
  }

  /** Passes batches through, each example noted before anything else is done with it. */
  async *watch<T extends { readonly example: Example }>(
    batches: AsyncIterable<T[]>,
  ): AsyncGenerator<T[], void, void> {
    for await (const batch of batches) {
      for (const { example } of batch) this.add(example);
      yield batch;
    }
  }

  identity(): Manifest["examples"] {
    return {
      count: this.#count,
      sha256: this.#whole.digest(),
      prompts_sha256: this.#prompts.digest(),
    };
  }
}
