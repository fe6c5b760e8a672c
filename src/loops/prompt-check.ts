/** Answers that say which prompt they answer are used with no other. */

import { dataError } from "../core/errors.ts";
import { promptFingerprint } from "../core/prompt-fingerprint.ts";
import type { Joined } from "./join.ts";

interface AnswerToPrompt {
  readonly id: string;
  readonly prompt_fingerprint?: string;
}

interface Labels {
  readonly dataset: string;
  readonly answers: string;
}

export class PromptCheck {
  readonly #labels: Labels;
  /** The first answer that does not say what it answers. */
  #unbound: string | undefined;

  constructor(labels: Labels) {
    this.#labels = labels;
  }

  /** Passes batches through; refuses an answer to another prompt than that of its example. */
  async *watch<A extends AnswerToPrompt>(
    batches: AsyncIterable<Joined<A>[]>,
  ): AsyncGenerator<Joined<A>[], void, void> {
    for await (const batch of batches) {
      for (const { example, answer } of batch) {
        const stated = answer?.prompt_fingerprint;
        if (stated === undefined) this.#unbound ??= answer?.id;
        else if (stated !== promptFingerprint(example.prompt)) throw this.#otherPrompt(example.id);
      }
      yield batch;
    }
  }

  /** Once all is read: for answers whose provenance says that each names its prompt. */
  requireAllBound(): void {
    if (this.#unbound === undefined) return;
    throw dataError(
      `${this.#labels.answers}: the row ${JSON.stringify(this.#unbound)} has no prompt_fingerprint, and its provenance file says that every row has one`,
      "The file was changed after it was sampled. Restore it, or sample again with rollout.",
    );
  }

  #otherPrompt(id: string): Error {
    const { dataset, answers } = this.#labels;
    return dataError(
      `${answers}: the row ${JSON.stringify(id)} answers another prompt than ${dataset} has for this id`,
      "Score it with the data set that it was sampled from, or sample this data set with rollout.",
    );
  }
}
