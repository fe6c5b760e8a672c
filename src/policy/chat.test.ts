import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Message } from "../core/environment.ts";
import { chatTemplate } from "./chat.ts";
import { conversation } from "./conversation.ts";
import { HuggingFaceTokenizer } from "./hf-tokenizer.ts";

const MESSAGES = [
  { role: "system", content: "Be brief." },
  { role: "user", content: " What is 2+2? " },
];

/** As Qwen and SmolLM2 write it. */
const CHATML = `{%- for message in messages -%}
{%- if loop.first and messages[0]['role'] != 'system' -%}
{{- '<|im_start|>system\\nYou are helpful.<|im_end|>\\n' -}}
{%- endif -%}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}`;

/** As Llama 3 writes it, with its date where the machinery knows one. */
const LLAMA = `{{- bos_token }}
{%- if strftime_now is defined %}
    {%- set date_string = strftime_now("%d %b %Y") %}
{%- else %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{%- set loop_messages = messages %}
{%- for message in loop_messages %}
    {%- if message.role not in ["system", "user", "assistant"] %}
        {{- raise_exception("I do not know the role " + message.role) }}
    {%- endif %}
    {%- set head = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' %}
    {%- if loop.index0 == 0 %}
        {%- set head = head + 'Today: ' + date_string + '\\n' %}
    {%- endif %}
    {{- head + message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}`;

const tokens = { begin: "<|begin_of_text|>", end: "<|eot_id|>" };

test("ChatML, with and without the beginning of an answer", () => {
  const template = chatTemplate(CHATML, "t", { begin: null, end: null });
  const rendered =
    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n What is 2+2? <|im_end|>\n";
  expect(template.render(MESSAGES, { addGenerationPrompt: false })).toBe(rendered);
  expect(template.render(MESSAGES, { addGenerationPrompt: true })).toBe(
    `${rendered}<|im_start|>assistant\n`,
  );
  expect(template.render(MESSAGES.slice(1), { addGenerationPrompt: true })).toBe(
    "<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\n What is 2+2? <|im_end|>\n<|im_start|>assistant\n",
  );
});

test("Llama 3, with its first token, and never with today's date", () => {
  const template = chatTemplate(LLAMA, "t", tokens);
  expect(template.render(MESSAGES, { addGenerationPrompt: true })).toBe(
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nToday: 26 Jul 2024\nBe brief.<|eot_id|>" +
      "<|start_header_id|>user<|end_header_id|>\n\nWhat is 2+2?<|eot_id|>" +
      "<|start_header_id|>assistant<|end_header_id|>\n\n",
  );
});

test("what a template refuses, it says", () => {
  const template = chatTemplate(LLAMA, "a/chat_template.jinja", tokens);
  expect(() =>
    template.render([{ role: "tool", content: "" }], { addGenerationPrompt: false }),
  ).toThrow(
    "the chat template of a/chat_template.jinja refuses these messages: I do not know the role tool",
  );
});

test("a broken template is refused when it is read", () => {
  expect(() => chatTemplate("{% for x in %}", "f", tokens)).toThrow(
    "the chat template of f cannot be read: ",
  );
});

describe("a conversation of several turns", () => {
  const file = path.join(import.meta.dirname, "../../tests/fixtures/hf-tiny/llama/tokenizer.json");
  const END = 2; // <|im_end|>
  const tokenizer = new HuggingFaceTokenizer({
    ...{ files: { "tokenizer.json": readFileSync(file, "utf8") }, path: file },
    ...{ vocabulary: 320, endTokens: [END] },
  });
  const chatml = chatTemplate(CHATML, "t", { begin: null, end: null });
  const user = (content: string): Message => ({ role: "user", content });
  const said = (content: string) => ({ role: "assistant" as const, content });
  const whole = [user("what is 2+2?"), said("four"), { role: "tool", content: "yes" } as const];

  test("is what the template makes of it as a whole, where its turns are tokenised alike", () => {
    const { begin, next } = conversation(chatml, tokenizer);
    const four = [...tokenizer.encode("four"), END];
    const tokens = [
      ...[...begin(whole.slice(0, 1)), ...four, ...next(whole.slice(0, 1), four, whole.slice(2))],
      ...[...four, ...next(whole, four, [user("sure?")])],
    ];
    const all = [...whole, said("four"), user("sure?")];
    expect(tokens).toEqual(tokenizer.encode(chatml.render(all, { addGenerationPrompt: true })));
  });

  test("keeps the sampled tokens, however the tokenizer would write their text", () => {
    const bytes = [...Buffer.from("four")].map((byte) =>
      tokenizer.encode(String.fromCharCode(byte)),
    );
    const spelled = [...bytes.flat(), END];
    const { next } = conversation(chatml, tokenizer);
    expect(tokenizer.decode(next(whole.slice(0, 1), spelled, [user("b")]))).toBe(
      "\nuser\nb\nassistant\n",
    );
  });

  test("ends a turn that was cut off, and does not end one twice", () => {
    const { next } = conversation(chatml, tokenizer);
    const cut = next([user("a")], tokenizer.encode("fo"), [user("b")]);
    const ended = next([user("a")], [...tokenizer.encode("fo"), END], [user("b")]);
    expect(cut).toEqual([END, ...ended]);
    expect(ended[0]).not.toBe(END);
  });

  test("with Llama 3, too, text by text", () => {
    const encode = (text: string) => [...text].map((one) => one.codePointAt(0) as number);
    const letters = { beginToken: null, encode, endTokens: [] };
    const llama = chatTemplate(LLAMA, "t", tokens);
    const { next } = conversation(llama, letters);
    expect(String.fromCodePoint(...next([user("a")], [], [user("b")]))).toBe(
      "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nb<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    );
    expect(() => next([user("a")], [], [{ role: "tool", content: "" }])).toThrow(/refuses/);
  });

  test("is refused by a template that leaves out or repeats what the policy wrote", () => {
    const forgetful = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}";
    const twice = "{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}";
    for (const source of [forgetful, twice]) {
      const template = chatTemplate(source, "t", tokens);
      expect(() => conversation(template, tokenizer).next([user("a")], [5], [user("b")])).toThrow(
        /does not write a turn of the policy as it is/,
      );
    }
  });
});
