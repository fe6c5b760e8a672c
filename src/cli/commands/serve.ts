import { once } from "node:events";
import path from "node:path";
import type { Command } from "commander";
import type { Checkpoint } from "../../policy/checkpoint.ts";
import { openEmbeddedPolicy } from "../../policy/embedded.ts";
import { type PolicyServer, startServer } from "../../serve/server.ts";
import { onBug } from "../on-bug.ts";
import { wholeNumber } from "../options.ts";
import { out } from "../terminal.ts";

/** Samples that grow at a time: more take more memory, fewer slow down large `n`. */
const BATCH = 8;

/** Placeholder: each request has its own settings. */
const SAMPLING = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 1, stop: [], seed: 0 };

export const help = `The first line of stdout is the server's URL; clients use URL/v1.
Requests are processed one at a time, the n samples of each in a batch. The same
request with the same seed gets the same response. Log-probs are those of the
policy at temperature 1. Unsupported parameters are rejected with an error.
A policy without a chat template takes one user message and a system message.

Examples:
  lockedroom serve --policy pi0
  lockedroom serve --policy models/SmolLM2-135M-Instruct --port 0`;

export function define(command: Command): void {
  command
    .description(
      "Serves a checkpoint on this machine as an OpenAI-compatible endpoint: models, completions, chat completions, with streaming and log-probs.",
    )
    .requiredOption(
      "--policy <folder>",
      "checkpoint folder (Locked Room or Hugging Face), pi0 or alias:NAME",
    )
    .option("--port <n>", "port on 127.0.0.1; 0 for a free one", wholeNumber(0, 65_535), 8080)
    .action(run);
}

async function run({ policy: folder, port }: { policy: string; port: number }): Promise<void> {
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
