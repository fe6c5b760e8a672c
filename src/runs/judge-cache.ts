/**
 * The answers of judges on disk, a file for each request, so that a repeated run asks nothing and
 * gets the same answers. Several processes may use one folder: of two answers to the same request
 * the first is kept, and both get it. Trouble with the cache is reported and never ends a judging.
 */

import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { ioError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import { TEMPORARY } from "./artifacts.ts";
import { parseWith, readBytesIfThere } from "./whole-file.ts";

const JUDGE_ANSWER_SCHEMA = "lockedroom.judge-answer@1";

const answerSchema = z.strictObject({
  completion: z.string(),
  finish: z.string(),
  prompt_tokens: z.int().nonnegative().nullable(),
  completion_tokens: z.int().nonnegative().nullable(),
  refusal: z.string().optional(),
});

/** What a judge answered, before anything is read from it. */
export type JudgeAnswer = z.infer<typeof answerSchema>;

const fileSchema = z.strictObject({
  schema: z.literal(JUDGE_ANSWER_SCHEMA),
  request_sha256: z.string(),
  answer: answerSchema,
  answer_sha256: z.string(),
});

export class JudgeCache {
  readonly #folder: string;
  readonly #onNotice: (text: string) => void;
  readonly #reported = new Set<string>();

  constructor(folder: string, onNotice: (text: string) => void) {
    this.#folder = folder;
    this.#onNotice = onNotice;
  }

  /** Undefined for a request that is not there, and for a file that is damaged. */
  async read(request: string): Promise<JudgeAnswer | undefined> {
    const file = this.#fileOf(request);
    try {
      const bytes = await readBytesIfThere(file);
      return bytes && answerIn(bytes.toString("utf8"), request);
    } catch (error) {
      const damaged = error instanceof TypeError || error instanceof SyntaxError;
      const why = damaged ? `${file} is damaged` : ioError(`read ${file}`, error).message;
      this.#report("read", `Cache of the judge: ${why}. The judge is asked again.`);
      return undefined;
    }
  }

  /** The answer that the cache has from now on: another process may have been faster. */
  async keep(request: string, answer: JudgeAnswer): Promise<JudgeAnswer> {
    const file = this.#fileOf(request);
    const partial = `${file}.${randomUUID()}${TEMPORARY}`;
    try {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(partial, fileText(request, answer), { flag: "wx" });
      return (await this.#linked(partial, file, request)) ?? answer;
    } catch (error) {
      const why = ioError(`write ${file}`, error).message;
      this.#report("write", `Cache of the judge: ${why}. Judging continues without it.`);
      return answer;
    } finally {
      await rm(partial, { force: true }).catch(() => {});
    }
  }

  /** A link is made by one process only; the answer of a faster one is returned. */
  async #linked(partial: string, file: string, request: string): Promise<JudgeAnswer | undefined> {
    try {
      await link(partial, file);
      return undefined;
    } catch (error) {
      const there = (error as NodeJS.ErrnoException).code === "EEXIST";
      const found = there ? await this.read(request) : undefined;
      // A damaged file is replaced; where links are not to be had, the last answer is kept.
      if (!found) await rename(partial, file);
      return found;
    }
  }

  #fileOf(request: string): string {
    return path.join(this.#folder, request.slice(0, 2), `${request}.json`);
  }

  #report(about: string, text: string): void {
    if (this.#reported.has(about)) return;
    this.#reported.add(about);
    this.#onNotice(text);
  }
}

/** A folder that cannot be used is an error here, before anything was asked or paid. */
export async function openJudgeCache(
  folder: string,
  onNotice: (text: string) => void = () => {},
): Promise<JudgeCache> {
  try {
    await mkdir(folder, { recursive: true });
    const ignore = path.join(folder, ".gitignore");
    const there = await readFile(ignore).catch(() => undefined);
    if (!there) await writeFile(ignore, "*\n");
  } catch (error) {
    throw ioError(`write ${folder}`, error, "usage");
  }
  return new JudgeCache(folder, onNotice);
}

function fileText(request: string, answer: JudgeAnswer): string {
  const content = {
    schema: JUDGE_ANSWER_SCHEMA,
    request_sha256: request,
    answer,
    answer_sha256: fingerprint(answer),
  };
  return `${canonicalJson(content)}\n`;
}

/** Throws for a text that is not what was written for this request. */
function answerIn(text: string, request: string): JudgeAnswer {
  const file = parseWith(fileSchema, JSON.parse(text));
  if (file.request_sha256 !== request) throw new TypeError("it is of another request");
  if (file.answer_sha256 !== fingerprint(file.answer)) throw new TypeError("it was changed");
  return file.answer;
}
