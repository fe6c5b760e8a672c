/** Messages as the text that an instruct model was trained to read. */

import { Template } from "@huggingface/jinja";
import { dataError, messageOf } from "../core/errors.ts";

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

export interface ChatTemplate {
  /** The template's own text, which a prompt's fingerprint needs. */
  readonly source: string;
  render(
    messages: readonly ChatMessage[],
    options: { readonly addGenerationPrompt: boolean },
  ): string;
}

/** Texts of the tokens that a template may write. */
export interface TemplateTokens {
  readonly begin: string | null;
  readonly end: string | null;
}

/**
 * Taken away, because a prompt with today's date in it could not be made again tomorrow. Templates
 * that ask whether there is a clock have a date of their own.
 */
const WITHOUT_CLOCK = new Template("{% set strftime_now = nothing %}").parsed.body;

/** A Jinja template; `file` is where it was found, for the error's sake. */
export function chatTemplate(source: string, file: string, tokens: TemplateTokens): ChatTemplate {
  const template = attempt(
    `the chat template of ${file} cannot be read`,
    () => new Template(source),
  );
  template.parsed.body.unshift(...WITHOUT_CLOCK);
  return {
    source,
    render: (messages, { addGenerationPrompt }) =>
      attempt(`the chat template of ${file} refuses these messages`, () =>
        template.render({
          messages,
          add_generation_prompt: addGenerationPrompt,
          bos_token: tokens.begin ?? "",
          eos_token: tokens.end ?? "",
        }),
      ),
  };
}

function attempt<T>(problem: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw dataError(
      `${problem}: ${messageOf(error)}`,
      "Mend the template, or remove it to have prompts read as plain text.",
    );
  }
}
