import { expect, test } from "vitest";
import { chatTemplate } from "./chat.ts";

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
