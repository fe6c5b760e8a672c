/** The options of commands that use a judge, and the judge that --judge names. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { type LockedRoomError, usageError } from "../core/errors.ts";
import { DROPPED_LIMIT, type GroupJudge, JUDGE_DEFAULTS } from "../core/judge.ts";
import { EMBEDDED } from "../core/judge-flag.ts";
import type { JudgeOptions } from "../judge/judge.ts";
import type { Rubric } from "../judge/rubric.ts";
import { OPENAI } from "./named-policy.ts";
import { gatewaySecrets, readSystem } from "./open-policy.ts";
import { fromZero, numberIn, wholeNumber } from "./options.ts";
import { err, warning } from "./terminal.ts";

/** Dollars for a million tokens. */
export interface JudgePrice {
  readonly prompt: number;
  readonly completion: number;
}

export interface JudgeFlags {
  readonly judge?: string;
  readonly rubric?: string;
  readonly judgeTemperature: number;
  readonly judgeMaxTokens: number;
  readonly judgeSeed: number;
  readonly judgeConcurrency: number;
  /** Seconds. */
  readonly judgeTimeout: number;
  readonly judgeCache: string;
  /** False with --no-cache. */
  readonly cache: boolean;
  readonly judgePrice?: JudgePrice;
  readonly judgeDroppedLimit: number;
}

export const JUDGE_CACHE = ".lockedroom/judge-cache";

export function addJudgeOptions(command: Command): Command {
  const share = numberIn(0, 1, "a share from 0 to 1");
  const { sampling, concurrency, timeoutMs } = JUDGE_DEFAULTS;
  return command
    .option(
      "--judge <judge>",
      "openai:MODEL, embedded, or embedded:FAULT,… with known faults; keys: JUDGE_API_KEY and JUDGE_BASE_URL, or those of OPENAI",
    )
    .option("--rubric <file>", "what makes one attempt better than another (default: four rules)")
    .option(
      "--judge-temperature <t>",
      "the judge's sampling temperature; 0: greedy",
      numberIn(0, 2, "a number from 0 to 2"),
      sampling.temperature,
    )
    .option(
      "--judge-max-tokens <n>",
      "maximum tokens of an answer",
      wholeNumber(1),
      sampling.max_tokens,
    )
    .option(
      "--judge-seed <n>",
      "random seed of the judge",
      wholeNumber(0, 2 ** 31 - 1),
      sampling.seed,
    )
    .option(
      "--judge-concurrency <n>",
      "requests to the judge at once",
      wholeNumber(1, 256),
      concurrency,
    )
    .option(
      "--judge-timeout <seconds>",
      "limit for one answer",
      numberIn(0.001, 290, "a number of seconds up to 290"),
      timeoutMs / 1000,
    )
    .option("--judge-cache <folder>", "where the judge's answers are kept", JUDGE_CACHE)
    .option("--no-cache", "ask the judge again, and keep no answers")
    .addOption(
      new Option(
        "--judge-price <prompt,completion>",
        "dollars per million tokens of the judge",
      ).argParser(priceOf),
    )
    .option(
      "--judge-dropped-limit <share>",
      "stop above this share of groups without a verdict",
      share,
      DROPPED_LIMIT,
    );
}

function priceOf(text: string): JudgePrice {
  const [prompt, completion, ...more] = text.split(",").map((part) => fromZero(part));
  if (prompt === undefined || completion === undefined || more.length > 0)
    throw new InvalidArgumentError("It must be two prices, such as 0.4,1.6.");
  return { prompt, completion };
}

/** Opens the judge that the flags name; whoever opens it closes it. */
export async function openJudgeHere(
  flags: JudgeFlags & { readonly judge: string },
  onNotice: (text: string) => void = noticed,
): Promise<GroupJudge> {
  const open = openerOf(flags.judge);
  const rubric = await rubricOf(flags.rubric);
  const cache = flags.cache ? await openCache(flags.judgeCache, onNotice) : undefined;
  return open({
    ...{ rubric, cache, onNotice, concurrency: flags.judgeConcurrency },
    sampling: {
      temperature: flags.judgeTemperature,
      max_tokens: flags.judgeMaxTokens,
      seed: flags.judgeSeed,
    },
    timeoutMs: 1000 * flags.judgeTimeout,
  });
}

export function noticed(text: string): void {
  err(warning(text, ""));
}

/** What is set for every kind of judge. */
export type Common = Omit<JudgeOptions, "model" | "apiKey">;

/** Throws before anything is opened: a kind that is unknown, a key that is missing. */
export function openerOf(judge: string): (common: Common) => Promise<GroupJudge> {
  if (judge.startsWith(OPENAI)) {
    const endpoint = openAiEndpoint(judge.slice(OPENAI.length).trim());
    return async (common) => {
      const { openJudge } = await import("../judge/judge.ts");
      return openJudge({ ...common, ...endpoint });
    };
  }
  if (judge === EMBEDDED || judge.startsWith(`${EMBEDDED}:`)) {
    return async (common) => {
      const { openEmbeddedJudge } = await import("../judge/open-embedded.ts");
      const faults = judge.slice(EMBEDDED.length + 1).split(",");
      return openEmbeddedJudge({ ...common, faults });
    };
  }
  throw usageError(
    `unknown kind of judge: ${judge}`,
    "Use openai:MODEL, embedded, or embedded:FAULT,… with faults of the embedded judge.",
  );
}

export async function openCache(folder: string, onNotice: (text: string) => void) {
  const { openJudgeCache } = await import("../runs/judge-cache.ts");
  return openJudgeCache(folder, onNotice);
}

async function rubricOf(file: string | undefined): Promise<Rubric> {
  const { DEFAULT_RUBRIC, readRubric } = await import("../judge/rubric.ts");
  return file === undefined ? DEFAULT_RUBRIC : readRubric(await readSystem(file), file);
}

type JudgeEndpoint = Pick<JudgeOptions, "model" | "apiKey"> & Partial<JudgeOptions>;

/** The judge's own variables win: a policy may have another endpoint. */
export function openAiEndpoint(model: string): JudgeEndpoint {
  if (model === "") throw usageError("--judge openai: has no model name", "Use openai:MODEL.");
  const [key, url] = [variable("JUDGE_API_KEY"), variable("JUDGE_BASE_URL")];
  if (url !== "") return { model, ...ownEndpoint(key, url) };
  const names = { key: key === "" ? "OPENAI_API_KEY" : "JUDGE_API_KEY", url: "OPENAI_BASE_URL" };
  const apiKey = variable(names.key);
  if (apiKey === "") throw noKey();
  const headers = process.env.OPENAI_CUSTOM_HEADERS;
  return {
    ...{ model, apiKey, baseUrl: variable(names.url), variables: names },
    organization: variable("OPENAI_ORG_ID"),
    project: variable("OPENAI_PROJECT_ID"),
    headers: headersIn(headers),
    secrets: gatewaySecrets(headers),
  };
}

/** A key is not sent to an endpoint that it was not given for. */
function ownEndpoint(apiKey: string, baseUrl: string): Omit<JudgeEndpoint, "model"> {
  const variables = { key: "JUDGE_API_KEY", url: "JUDGE_BASE_URL" };
  if (apiKey !== "") return { apiKey, baseUrl, variables };
  throw usageError(
    "JUDGE_BASE_URL is set, and JUDGE_API_KEY is not",
    "Set it to the key of the judge's endpoint, which does not get OPENAI_API_KEY; for a server without keys, to any text.",
  );
}

function noKey(): LockedRoomError {
  return usageError(
    "the judge has no key: neither JUDGE_API_KEY nor OPENAI_API_KEY is set",
    "Set one to the key of the judge's endpoint; for a server without keys, to any text. --judge embedded needs none.",
  );
}

function variable(name: string): string {
  return process.env[name]?.trim() ?? "";
}

/** Lines such as `X-Gateway: text`. */
function headersIn(lines = ""): Record<string, string> {
  const pairs = lines.split("\n").filter((line) => line.includes(":"));
  return Object.fromEntries(
    pairs.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}
