/**
 * An OpenAI-compatible endpoint that judges by rules: for tests, drills and work without a network.
 * It is honest unless it is started with faults, which are known, so that an audit can be tested.
 */

import { sha256 } from "../../core/fingerprint.ts";
import { abortOnDisconnect, addRoute, type RequestContext } from "../../http/app.ts";
import { readJson } from "../../http/body.ts";
import { HttpError } from "../../http/errors.ts";
import { openAiError } from "../../http/openai-error.ts";
import { startHttpServer } from "../../http/server.ts";
import { type Asked, readAsked } from "./asked.ts";
import { withContentFaults } from "./content-faults.ts";
import { criteriaFor, honestScore } from "./criteria.ts";
import { type ContentFault, type Fault, type FormatFault, readFaults } from "./faults.ts";
import { answerText, type Entry, REFUSAL, strikes } from "./format-faults.ts";

export { FAULTS } from "./faults.ts";

export const EMBEDDED_JUDGE = "embedded-judge";
/** Raised when scores change. */
export const EMBEDDED_VERSION = "1";

export interface EmbeddedJudgeOptions {
  /** `position=0.3,chatter-once`; none is an honest judge. */
  readonly faults: string | readonly string[];
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** How late the fault `slow` answers; 1500 unless stated. */
  readonly slowMs?: number | undefined;
  /** Called with internal errors; clients get only a status of 500. */
  readonly onBug?: ((error: unknown) => void) | undefined;
}

export interface EmbeddedJudge {
  /** Ends with /v1. */
  readonly url: string;
  close(): Promise<void>;
}

const MOST_BYTES = 32 * 1024 * 1024;

export async function startEmbeddedJudge(options: EmbeddedJudgeOptions): Promise<EmbeddedJudge> {
  const { port = 0, slowMs = 1500, onBug = () => {} } = options;
  const judge = new Judge(readFaults(options.faults), slowMs);
  const server = await startHttpServer({
    port,
    onBug,
    errorBody: openAiError,
    stop: async () => judge.stop(),
    addRoutes(app) {
      addRoute(app, "/v1/models", {
        GET: (c) =>
          c.json({ object: "list", data: [{ id: EMBEDDED_JUDGE, object: "model", created: 0 }] }),
      });
      addRoute(app, "/v1/chat/completions", { POST: (c) => judge.answer(c) });
    },
  });
  return { url: `${server.url}/v1`, close: () => server.close() };
}

class Judge {
  readonly #faults: readonly Fault[];
  readonly #slowMs: number;
  readonly #fingerprint: string;
  /** Requests that were left without an answer and may be sent again, by fault and hash. */
  readonly #sentBefore = new Set<string>();
  readonly #stopping = new AbortController();

  constructor(faults: readonly Fault[], slowMs: number) {
    this.#faults = faults;
    this.#slowMs = slowMs;
    this.#fingerprint = `fp_${sha256(JSON.stringify([EMBEDDED_VERSION, faults])).slice(0, 12)}`;
  }

  stop(): void {
    this.#stopping.abort(new HttpError(503, "the server is stopping", { code: "server_stopping" }));
  }

  async answer(c: RequestContext): Promise<Response> {
    const asked = readAsked(await readJson(c.req.raw, { maxBytes: MOST_BYTES }));
    const entries = this.#entries(asked);
    const struck = strikes(this.#faults, asked);
    await this.#obstruct(asked, struck, abortOnDisconnect(c).signal);
    return c.json(this.#completion(asked, entries, struck));
  }

  #entries(asked: Asked): Entry[] {
    const { attempts, rules } = asked;
    const [first] = attempts;
    const criteria = first ? criteriaFor(first, rules) : [];
    const honest = attempts.map((attempt) => honestScore(attempt, criteria));
    const strengths: Partial<Record<ContentFault, number>> = {};
    for (const fault of this.#faults) {
      if (fault.kind === "content") strengths[fault.name] = fault.strength;
    }
    const scores = withContentFaults(
      honest.map(({ score }) => score),
      asked,
      strengths,
    );
    return attempts.map(({ id }, i) => ({
      trajectory_id: id,
      explanation: honest[i]?.explanation ?? "",
      score: Number((scores[i] as number).toFixed(4)),
    }));
  }

  /** The faults that keep an answer back. */
  async #obstruct(
    asked: Asked,
    struck: readonly FormatFault[],
    client: AbortSignal,
  ): Promise<void> {
    const signal = AbortSignal.any([client, this.#stopping.signal]);
    if (struck.includes("rate-limit") && this.#isFirst("rate-limit", asked)) {
      throw new HttpError(429, "too many requests; this one may be sent again", {
        code: "rate_limit_exceeded",
        headers: { "retry-after": "1", "retry-after-ms": "50" },
      });
    }
    if (struck.includes("timeout") && !this.#isSecondTry(asked)) await waited(Infinity, signal);
    if (struck.includes("slow")) await waited(this.#slowMs, signal);
  }

  /** Every other time that the same request comes. */
  #isFirst(fault: FormatFault, { hash, seed, corrective }: Asked): boolean {
    const key = `${fault} ${hash} ${seed} ${corrective}`;
    if (this.#sentBefore.delete(key)) return false;
    this.#sentBefore.add(key);
    return true;
  }

  #isSecondTry(asked: Asked): boolean {
    const once = this.#faults.some(
      (fault) => fault.kind === "format" && fault.name === "timeout" && fault.once,
    );
    return once && !this.#isFirst("timeout", asked);
  }

  /** Tokens are characters / 4, rounded up: of all messages, and of the answer. */
  #completion(asked: Asked, entries: readonly Entry[], struck: readonly FormatFault[]): object {
    const refused = struck.includes("refusal");
    const whole = refused ? REFUSAL : answerText(entries, struck);
    const tokens = Math.min(asked.maxTokens, tokensOf(whole.length));
    const text = whole.slice(0, 4 * tokens);
    const promptTokens = tokensOf(asked.characters);
    return {
      id: `chatcmpl-${asked.hash.slice(0, 24)}`,
      object: "chat.completion",
      created: 0,
      model: asked.model,
      system_fingerprint: this.#fingerprint,
      choices: [
        {
          index: 0,
          message: refused
            ? { role: "assistant", content: null, refusal: text }
            : { role: "assistant", content: text, refusal: null },
          logprobs: null,
          finish_reason: text.length < whole.length ? "length" : "stop",
        },
      ],
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: tokens,
        total_tokens: promptTokens + tokens,
      },
    };
  }
}

const tokensOf = (characters: number) => Math.ceil(characters / 4);

/** Throws when the client leaves or the server stops. */
function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined;
    const leave = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
}
