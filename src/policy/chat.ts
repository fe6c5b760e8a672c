/** Chat templates, and prompts as tokens. */

import { Template } from "@huggingface/jinja";
import { dataError, messageOf } from "../core/errors.ts";
import type { PolicyTokenizer } from "./tokenizer.ts";

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

export interface ChatTemplate {
  /** The Jinja text, part of a prompt's fingerprint. */
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
 * A prompt with today's date could not be reproduced tomorrow. Templates that test for the function
 * have a default date.
 */
const WITHOUT_CLOCK = new Template("{% set strftime_now = nothing %}").parsed.body;

/** A Jinja template; `file` is for error messages. */
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

/** A prompt without a template: the begin token, if there is one, and the text. */
export function plainTokens(
  tokenizer: Pick<PolicyTokenizer, "beginToken" | "encode">,
  text: string,
): number[] {
  const begin = tokenizer.beginToken === null ? [] : [tokenizer.beginToken];
  return [...begin, ...tokenizer.encode(text)];
}

/** An example's prompt as tokens, the way the policy was trained to read it. */
export function promptTokens(
  { chat, tokenizer }: { readonly chat: ChatTemplate | null; readonly tokenizer: PolicyTokenizer },
  text: string,
  system?: string,
): number[] {
  if (!chat) return plainTokens(tokenizer, (system ?? "") + text);
  const messages = [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    { role: "user", content: text },
  ];
  return tokenizer.encode(chat.render(messages, { addGenerationPrompt: true }));
}

function attempt<T>(problem: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw dataError(
      `${problem}: ${messageOf(error)}`,
      "Correct the template, or remove it to use prompts as plain text.",
    );
  }
}
