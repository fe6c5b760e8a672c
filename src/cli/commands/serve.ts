import { once } from "node:events";
import path from "node:path";
import type { Command } from "commander";
import { usageError } from "../../core/errors.ts";
import type { Checkpoint } from "../../policy/checkpoint.ts";
import type { PolicyServer } from "../../serve/server.ts";
import { onBug } from "../on-bug.ts";
import { wholeNumber } from "../options.ts";
import { CONCURRENCY, SCORER_TIMEOUT } from "../scoring.ts";
import type { ScorerServerFlags } from "../serve-scorer.ts";
import { out } from "../terminal.ts";

/** Samples that grow at a time: more take more memory, fewer slow down large `n`. */
const BATCH = 8;

/** Placeholder: each request has its own settings. */
const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 1, stop: [], seed: 0 };

export const help = `The first line of stdout is the server's URL.

With --policy clients use URL/v1. Requests are processed one at a time, the n
samples of each in a batch. The same request with the same seed gets the same
response. Log-probs are those of the policy at temperature 1. Unsupported
parameters are rejected with an error. A policy without a chat template takes
one user message and a system message.

With --scorer the URL is that of an endpoint grader: POST {"sample": {...},
"item": {...}, "trace_id": "..."} is answered with {"score": 0.8} and with the
fields code, details and trace_id. A scorer gets sample.output_text as the
completion and item as the example; a grader gets the whole sample. A row
without a reward is never a score of 0: status 500 if the scorer broke, 422 if
it cannot read the item. A body has at most 1 MiB (413); above the rate limit
the status is 429 with Retry-After. Where LOCKEDROOM_SERVE_TOKEN is set,
requests must bring it as "authorization: Bearer TOKEN"; without it only this
machine is served. The connection is plain HTTP: for other machines, put a
proxy with TLS before it.

Examples:
  lockedroom serve --policy pi0
  lockedroom serve --policy models/SmolLM2-135M-Instruct --port 0
  lockedroom serve --scorer math_final_line
  lockedroom serve --scorer grader.json --port 0 --rate-limit 20
  LOCKEDROOM_SERVE_TOKEN=$(openssl rand -hex 32) \\
    lockedroom serve --scorer scorer.ts --host 0.0.0.0`;

interface Flags extends Omit<ScorerServerFlags, "scorer"> {
  readonly policy?: string;
  readonly scorer?: string;
}

export function define(command: Command): void {
  command
    .description(
      "Serves a checkpoint on this machine as an OpenAI-compatible endpoint (models, completions, chat completions, with streaming and log-probs), or a scorer or grader as an endpoint grader.",
    )
    .option(
      "--policy <folder>",
      "checkpoint folder (Locked Room or Hugging Face), pi0 or alias:NAME",
    )
    .option("--scorer <name|file>", "a built-in, a .ts or .js file, or a grader .json file")
    .option("--port <n>", "port; 0 for a free one", wholeNumber(0, 65_535), 8080)
    .option("--host <address>", "with --scorer and a token: another address than 127.0.0.1")
    .option("--rate-limit <n>", "with --scorer: requests a second", wholeNumber(1, 100_000), 100)
    .option("--score-only", 'with --scorer: answer {"score": …} and no other field')
    .addOption(CONCURRENCY)
    .addOption(SCORER_TIMEOUT)
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { policy, scorer, host, scoreOnly } = flags;
  if ((policy === undefined) === (scorer === undefined))
    throw usageError(
      policy ? "serve takes --policy or --scorer, not both" : "serve needs --policy or --scorer",
      "See lockedroom serve --help.",
    );
  if (scorer !== undefined) {
    const { serveScorer } = await import("../serve-scorer.ts");
    return serveScorer({ ...flags, scorer });
  }
  if (host !== undefined || scoreOnly)
    throw usageError(
      "--host and --score-only go with --scorer",
      "A policy is served on 127.0.0.1.",
    );
  return servePolicy(policy as string, flags.port);
}

async function servePolicy(folder: string, port: number): Promise<void> {
  const { openEmbeddedPolicy } = await import("../../policy/embedded.ts");
  const { startServer } = await import("../../serve/server.ts");
  const policy = await openEmbeddedPolicy(folder, { sampling: SAMPLING, batch: BATCH });
  try {
    const name = modelName(folder);
    const server = await startServer({ policy, name, port, onBug });
    const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
    printStart(server, name, policy.checkpoint);
    await stopped;
    await server.close();
  } finally {
    await policy.close();
  }
}

/** The name of the folder, or of its run where the folder is called "checkpoint"; safe in a shell. */
function modelName(folder: string): string {
  const full = path.resolve(folder);
  const own = path.basename(full);
  const name = own === "checkpoint" ? path.basename(path.dirname(full)) : own;
  return name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 40) || "policy";
}

/** The first line is the URL alone, for programs that start a server. */
function printStart({ url, baseUrl }: PolicyServer, name: string, checkpoint: Checkpoint): void {
  const { parameters, maxLength, chat } = checkpoint;
  out(url);
  out();
  out(`Serving ${name} to OpenAI clients at ${baseUrl}`);
  out(`  ${parameters.length.toLocaleString("en")} parameters, ${maxLength} tokens context length`);
  out();
  out("Try it:");
  out(`  curl ${baseUrl}/${chat ? "chat/completions" : "completions"} \\`);
  out("    -H 'content-type: application/json' \\");
  out(`    -d '{"model": "${name}",`);
  out(`         ${exampleOf(checkpoint)}, "max_tokens": 16}'`);
  out();
  out("Stop with Ctrl-C.");
}

const EXAMPLES = ["Compute 12 + 34. Reply: Final: <int>", "12 + 34 = ", "12+34=", "12", "a"];

/** A prompt that the tokenizer can encode; token ids if it can encode none of the examples. */
function exampleOf({ chat, tokenizer }: Checkpoint): string {
  if (chat) return '"messages": [{"role": "user", "content": "What is 12 + 34?"}]';
  const text = EXAMPLES.find((prompt) => {
    try {
      return tokenizer.encode(prompt).length > 0;
    } catch {
      return false;
    }
  });
  return `"prompt": ${text === undefined ? `[${tokenizer.size - 1}]` : JSON.stringify(text)}`;
}
