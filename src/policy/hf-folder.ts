/** The tokenizer of a folder: tokenizer.json, its settings, chat template and end tokens. */

import path from "node:path";
import { dataError } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { readIfThere } from "../runs/whole-file.ts";
import type { Architecture } from "./architecture.ts";
import { alphabetOf } from "./character-files.ts";
import { CharacterTokenizer } from "./characters.ts";
import { type ChatTemplate, chatTemplate } from "./chat.ts";
import { objectOf } from "./config-files.ts";
import { HuggingFaceTokenizer } from "./hf-tokenizer.ts";
import { endTokensOf, type ReadConfig } from "./hugging-face.ts";
import { type PolicyTokenizer, TOKENIZER_FILE, TOKENIZER_SETTINGS } from "./tokenizer.ts";

const TEMPLATE = "chat_template.jinja";
const GENERATION = "generation_config.json";
const COMPANIONS: readonly string[] = [TOKENIZER_SETTINGS, TEMPLATE];
/** The files of a tokenizer, which are copied with it. */
export const TOKENIZER_FILES: readonly string[] = [TOKENIZER_FILE, ...COMPANIONS];

/** `text` is that of tokenizer.json. Character vocabularies have their own tokenizer, for speed. */
export async function readTokenizer(
  dir: string,
  text: string,
  config: ReadConfig,
): Promise<PolicyTokenizer> {
  const file = path.join(dir, TOKENIZER_FILE);
  const files: Record<string, string> = { [TOKENIZER_FILE]: text };
  for (const name of COMPANIONS) {
    const content = await readIfThere(path.join(dir, name));
    if (content !== undefined) files[name] = content;
  }
  const alphabet = alphabetOf(objectOf(text, file));
  if (!alphabet) return huggingFaceTokenizer(dir, file, files, config);
  const tokenizer = new CharacterTokenizer(alphabet.join(""), files);
  requireSize(file, tokenizer, config.architecture);
  return tokenizer;
}

export function requireSize(
  file: string,
  { size }: PolicyTokenizer,
  { vocabulary }: Architecture,
): void {
  if (size === vocabulary) return;
  throw dataError(
    `${file} has ${size} tokens, but the vocabulary of the model has ${vocabulary}`,
    "Put the tokenizer beside the model that it was made for.",
  );
}

async function huggingFaceTokenizer(
  dir: string,
  file: string,
  files: Readonly<Record<string, string>>,
  config: ReadConfig,
): Promise<HuggingFaceTokenizer> {
  const { vocabulary } = config.architecture;
  const endTokens = await statedEnds(dir, config);
  for (const id of endTokens) {
    if (id >= 0 && id < vocabulary) continue;
    throw dataError(
      `${dir}: the end token ${id} is not in the vocabulary of ${vocabulary}`,
      "Fetch config.json and generation_config.json again.",
    );
  }
  const settings = settingsOf(files, path.join(dir, TOKENIZER_SETTINGS));
  const bosToken = config.beginToken;
  return new HuggingFaceTokenizer({
    ...{ files, path: file, vocabulary, endTokens, settings, bosToken },
  });
}

/** A generation_config.json overrides config.json. */
async function statedEnds(dir: string, config: ReadConfig): Promise<readonly number[]> {
  const file = path.join(dir, GENERATION);
  const text = await readIfThere(file);
  const stated = text === undefined ? [] : endTokensOf(objectOf(text, file), file);
  return stated.length > 0 ? stated : config.endTokens;
}

/** The template in a file of its own or in the settings; null if there is none. */
export function chatOf(dir: string, tokenizer: PolicyTokenizer): ChatTemplate | null {
  const { files } = tokenizer;
  const file = path.join(dir, TOKENIZER_SETTINGS);
  const settings = settingsOf(files, file);
  const tokens = {
    begin: textOf(settings.bos_token) ?? tokenizer.contentOf(tokenizer.bosToken),
    end: textOf(settings.eos_token) ?? tokenizer.contentOf(tokenizer.endTokens[0] ?? null),
  };
  const own = files[TEMPLATE];
  if (own !== undefined) return chatTemplate(own, path.join(dir, TEMPLATE), tokens);
  const source = defaultTemplate(settings.chat_template ?? null);
  return source === null ? null : chatTemplate(source, file, tokens);
}

/** Some tokenizers have several templates by name, one of them the default. */
function defaultTemplate(found: Json): string | null {
  if (typeof found === "string") return found;
  if (!Array.isArray(found)) return null;
  const named = found.find((entry) => (entry as JsonObject | null)?.name === "default");
  return defaultTemplate((named as JsonObject | undefined)?.template ?? null);
}

/** A token is stored as its text, or as an object with its text. */
function textOf(token: Json | undefined): string | null {
  if (typeof token === "string") return token;
  const content = (token as JsonObject | null | undefined)?.content;
  return typeof content === "string" ? content : null;
}

function settingsOf(files: Readonly<Record<string, string>>, file: string): JsonObject {
  const text = files[TOKENIZER_SETTINGS];
  return text === undefined ? {} : objectOf(text, file);
}
