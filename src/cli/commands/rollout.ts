import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type Command, InvalidArgumentError } from "commander";
import { dataError, ioError, usageError } from "../../core/errors.ts";
import type { Policy, SamplingSettings } from "../../core/policy.ts";
import { visibleShort } from "../../core/visible.ts";
import { rollout } from "../../loops/rollout.ts";
import { aliasedPolicy } from "../../runs/aliased-policy.ts";
import type { FinishedRollout } from "../../runs/finished-rollout.ts";
import type { Timing } from "../../runs/timing-schema.ts";
import { OPENAI, requireEndpoint } from "../named-policy.ts";
import {
  addRunOptions,
  EXAMPLES,
  numberIn,
  pricesOf,
  type RunFlags,
  SEED,
  wholeNumber,
} from "../options.ts";
import { tokenProgress } from "../progress.ts";
import { commandLines, err, hint, out, print, program, warning } from "../terminal.ts";

interface Flags extends RunFlags, Pick<SamplingSettings, "temperature" | "seed"> {
  readonly policy: string;
  readonly dataset: string;
  readonly n: number;
  readonly topP: number;
  readonly topK: number;
  readonly maxTokens: number;
  readonly stop?: string[];
  readonly system?: string;
  readonly concurrency: number;
  readonly priceIn?: number;
  readonly priceOut?: number;
  readonly resume?: boolean;
}

const price = numberIn(0, 1e9, "a price for a million tokens");

export const help = `openai:MODEL uses any endpoint with OpenAI's chat completions API: set
OPENAI_BASE_URL (default: OpenAI) and OPENAI_API_KEY, which is never written to
a file. Completions are saved as they arrive; --resume requests only the rest.
A checkpoint folder lists its rollouts in rollouts.jsonl: the manifest says with
how many seeds the policy has answered any of the examples so far.

Examples:
  lockedroom rollout --policy pi0 --n 1 --max-tokens 32 \\
    --dataset data/datasets/math_dev.jsonl --outdir runs/rollout
  lockedroom rollout --policy openai:gpt-4.1-mini --n 8 --max-tokens 256 \\
    --dataset data/datasets/math_dev.jsonl --outdir runs/samples \\
    --price-in 0.40 --price-out 1.60`;

export function define(command: Command): void {
  command
    .description(
      "Samples completions from a policy. One per example (--n 1) makes a file for eval, several make a file for selection-demo and pairs.",
    )
    .requiredOption("--policy <policy>", "pi0, a checkpoint folder, alias:NAME or openai:MODEL")
    .requiredOption(...EXAMPLES)
    .requiredOption("--n <n>", "completions per example", wholeNumber(1, 100_000))
    .option(
      "--temperature <t>",
      "sampling temperature; 0 is greedy",
      numberIn(0, 100, "a number from 0 to 100"),
      1,
    )
    .option(
      "--top-p <p>",
      "nucleus sampling: top tokens with this probability mass",
      numberIn(Number.MIN_VALUE, 1, "a number above 0 and up to 1"),
      1,
    )
    .option("--top-k <k>", "sample from the k most likely tokens; 0: all", wholeNumber(0), 0)
    .option("--max-tokens <n>", "maximum tokens per completion", wholeNumber(1), 64)
    .option(...SEED)
    .option("--stop <text...>", "stop sequences", stopText)
    .option("--system <file>", "file with a system prompt")
    .option("--concurrency <n>", "concurrent requests to an endpoint", wholeNumber(1, 256), 8)
    .option("--price-in <x>", "price per million prompt tokens", price)
    .option("--price-out <x>", "price per million completion tokens", price)
    .option("--resume", "continue an interrupted rollout in --outdir")
    .action(run);
  addRunOptions(command, "the rollout");
}

function stopText(text: string, before: string[] | undefined): string[] {
  if (text === "") throw new InvalidArgumentError("It must not be empty.");
  return [...(before ?? []), text];
}

async function run(flags: Flags): Promise<void> {
  const prices = pricesOf(flags);
  const system = flags.system === undefined ? undefined : await readSystem(flags.system);
  const notices: string[] = [];
  const policy = await openPolicy(flags, system, (text) => notices.push(text));
  const progress = tokenProgress("Sampling", flags.quiet);
  const listener = onInterrupt(progress.stop);
  let kept = 0;
  try {
    const result = await rollout({
      policy,
      ...{ dataset: flags.dataset, n: flags.n, outdir: flags.outdir },
      ...{ resume: flags.resume, force: flags.force, prices },
      inputs: [flags.system ?? "", policy.place?.path ?? flags.policy].filter(existsSync),
      onStart: (wanted, before) => {
        kept = before;
        progress.start(wanted, before);
      },
      onAnswer: ({ completion_tokens }) => progress.add(completion_tokens),
    });
    progress.stop();
    if (!flags.quiet) printRollout(result, flags, kept, notices);
  } finally {
    progress.stop();
    process.removeListener("SIGINT", listener);
    await policy.close();
  }
}

/** On Ctrl-C, says that nothing is lost; then the signal ends the process. */
function onInterrupt(stop: () => void): () => void {
  const listener = () => {
    stop();
    err("lockedroom: interrupted");
    hint("The completions so far are saved: continue with the same command and --resume.");
    process.kill(process.pid, "SIGINT");
  };
  process.once("SIGINT", listener);
  return listener;
}

export async function readSystem(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error) => {
    throw ioError(`read ${file}`, error, "data");
  });
  if (!isUtf8(bytes)) throw dataError(`${file}: not valid UTF-8`, "Save the file as UTF-8.");
  return new TextDecoder().decode(bytes);
}

/** What says which policy samples, and how. */
export type PolicyFlags = Pick<
  Flags,
  "policy" | "temperature" | "topK" | "topP" | "maxTokens" | "stop" | "seed" | "concurrency"
>;

export async function openPolicy(
  flags: PolicyFlags,
  system: string | undefined,
  onNotice: (text: string) => void,
): Promise<Policy> {
  const { temperature, topK: top_k, topP: top_p, maxTokens: max_tokens, stop = [], seed } = flags;
  const sampling = { temperature, top_k, top_p, max_tokens, stop, seed };
  const aliased = aliasedPolicy(flags.policy);
  if (aliased?.source.startsWith(OPENAI)) {
    requireEndpoint(flags.policy, aliased);
    return openEndpoint({ ...flags, policy: aliased.source }, sampling, system, onNotice);
  }
  if (flags.policy.startsWith(OPENAI)) return openEndpoint(flags, sampling, system, onNotice);
  const prefix = /^[A-Za-z][A-Za-z0-9+.-]+:/.exec(flags.policy)?.[0];
  if (prefix !== undefined && !aliased && !existsSync(flags.policy)) {
    throw usageError(
      `unknown kind of policy: ${prefix}`,
      "Use a checkpoint folder, pi0, alias:NAME, or openai:MODEL.",
    );
  }
  // Loaded lazily: an endpoint does not need the engine.
  const { openEmbeddedPolicy } = await import("../../policy/embedded.ts");
  return openEmbeddedPolicy(flags.policy, { sampling, system, timed: true });
}

async function openEndpoint(
  flags: PolicyFlags,
  sampling: SamplingSettings,
  system: string | undefined,
  onNotice: (text: string) => void,
): Promise<Policy> {
  const model = flags.policy.slice(OPENAI.length).trim();
  if (model === "") throw usageError("--policy openai: has no model name", "Use openai:MODEL.");
  const { env } = process;
  const apiKey = env.OPENAI_API_KEY?.trim() ?? "";
  if (apiKey === "") {
    throw usageError(
      "OPENAI_API_KEY is not set",
      "Set it to the key of the endpoint; for a server without keys, to any text.",
    );
  }
  const { openOpenAiPolicy } = await import("../../providers/openai.ts");
  return openOpenAiPolicy({
    ...{ model, sampling, system, apiKey, onNotice, concurrency: flags.concurrency },
    baseUrl: env.OPENAI_BASE_URL,
    organization: env.OPENAI_ORG_ID,
    project: env.OPENAI_PROJECT_ID,
    secrets: gatewaySecrets(env.OPENAI_CUSTOM_HEADERS),
  });
}

/** The client sends these headers by itself; their values may be secrets. */
function gatewaySecrets(headers = ""): string[] {
  return headers
    .split("\n")
    .map((line) => line.slice(line.indexOf(":") + 1).trim())
    .flatMap((value) => [value, value.replace(/^Bearer +/i, "")]);
}

function trainedOn(rows: number, examples: number, ids: readonly string[]): string {
  const some = ids.map((id) => visibleShort(id, 40)).join(", ");
  const more = rows > ids.length ? ", …" : "";
  return `The policy was trained on the prompts of ${rows} of ${examples} examples (${some}${more}): these completions do not measure what it learned in general. The gate will refuse a run made of them.`;
}

function printRollout(
  { dir, answers, manifest, summary }: FinishedRollout,
  { dataset, policy }: Flags,
  kept: number,
  notices: readonly string[],
): void {
  const { n_examples: examples, n_answers: total, cost } = summary;
  const each = manifest.n === 1 ? "one completion" : `${manifest.n} completions`;
  print(`Sampled ${each} for each of ${examples} examples from ${policy}.`);
  if (kept > 0) out(`  ${kept} of ${total} are from an earlier session.`);
  for (const notice of notices) out(warning(notice));
  const { rows: learned = 0, first_ids: ids = [] } = manifest.exposure?.learned ?? {};
  if (learned > 0) out(warning(trainedOn(learned, examples, ids)));
  if (summary.n_refused > 0) out(`  ${summary.n_refused} are refusals.`);
  if (summary.n_empty > 0) out(`  ${summary.n_empty} are empty.`);
  out();
  for (const [end, count] of Object.entries(summary.finish).sort((a, b) => b[1] - a[1])) {
    print(`finish reason ${end}: ${count}`, "  ");
  }
  out(`  tokens: ${cost.prompt_tokens} in, ${cost.completion_tokens} out`);
  if (cost.n_uncounted > 0) out(`  ${cost.n_uncounted} completions have no token count.`);
  if (cost.total !== null) {
    const least = cost.n_uncounted > 0 ? "at least " : "";
    out(
      `  cost: ${least}${cost.total.toFixed(4)} (${cost.price_in} in, ${cost.price_out} out, per million)`,
    );
  }
  // Not the same twice, so not in output that is compared; the manifest has it always.
  if (process.stdout.isTTY) printTiming(manifest.volatile.timing);
  out();
  print(`Rollout written to ${dir}`);
  const [command, ...flags] =
    manifest.n === 1
      ? ["eval", `--dataset ${dataset}`, `--completions ${answers}`]
      : ["selection-demo", `--dataset ${dataset}`, `--samples ${answers}`, `--n ${manifest.n}`];
  out(commandLines(`Next: ${program()} ${command}`, [...flags, `--outdir ${dir}-scored`]));
}

function printTiming(timing: Timing | undefined): void {
  if (timing === undefined) return;
  const { p50_ms, p90_ms, p99_ms } = timing.completions;
  const [p50, p90, p99] = [p50_ms, p90_ms, p99_ms].map((ms) => ms.toFixed(ms < 10 ? 1 : 0));
  out(`  latency of a completion: p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms`);
  if (timing.tokens > 0 && timing.seconds > 0)
    out(`  throughput: ${(timing.tokens / timing.seconds).toFixed(0)} tokens per second`);
}
