import { Argument, type Command, Option } from "commander";
import { usageError } from "../../core/errors.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { visible, visibleShort } from "../../core/visible.ts";
import { isAdapter } from "../../policy/adapter.ts";
import { inspectCheckpoint, loadCheckpoint, type Stored } from "../../policy/checkpoint.ts";
import { describeCheckpoint, type PolicyDescription } from "../../policy/describe.ts";
import { exportPolicy } from "../../policy/export.ts";
import { checkpointFolder } from "../../policy/pi0.ts";
import { mergeInto, showAdapter } from "../adapter.ts";
import { type Format, wholeNumber } from "../options.ts";
import { hanging, out, paint, print, printableJson, wrap } from "../terminal.ts";

interface Flags {
  readonly format?: Format;
  readonly outfile?: string;
  readonly batch?: number;
  readonly length?: number;
  readonly outdir?: string;
  readonly force?: boolean;
}

/** The options of each action; others are rejected. */
const OPTIONS: Record<string, readonly (keyof Flags)[]> = {
  show: ["format"],
  export: ["outfile", "batch", "length", "force"],
  merge: ["outdir", "force"],
};

/** A short default, to try a file out. */
const DEFAULT_LENGTH = 256;

export const help = `The exported graph maps tokens (int64, batch × length) to logits (float32,
batch × length × vocabulary), for any ONNX runtime. Pad shorter texts at the end
with any token: attention is causal.

Examples:
  lockedroom policy show pi0
  lockedroom policy show SmolLM2-135M --format json
  lockedroom policy export checkpoints/start --outfile start.onnx
  lockedroom policy export checkpoints/start --outfile start.onnx --batch 8 \\
      --length 64 --force
  lockedroom policy merge checkpoints/start runs/lora/adapter \\
      --outdir checkpoints/tuned`;

export function define(command: Command): void {
  command
    .description(
      "Shows, exports or merges a checkpoint: a folder with config.json, model.safetensors and tokenizer.json, of Locked Room or Hugging Face (Llama, SmolLM2, Qwen2, Qwen3).",
    )
    .addArgument(
      new Argument("<action>", "show, export, or merge an adapter").choices(Object.keys(OPTIONS)),
    )
    .argument("<checkpoint>", "checkpoint folder, pi0 or alias:NAME; show also takes an adapter")
    .argument("[adapter]", "for merge: the adapter/ of a run with the setting lora")
    .addOption(
      new Option("--format <format>", "output format of show (default: text)").choices([
        "text",
        "json",
      ]),
    )
    .option("--outfile <file>", "ONNX file to export to, with the weights")
    .option("--batch <n>", "batch size of the exported graph (default: 1)", wholeNumber(1, 4096))
    .option(
      "--length <n>",
      `tokens per row (default: ${DEFAULT_LENGTH}, or the context length if smaller)`,
      wholeNumber(1, 4096),
    )
    .option("--outdir <folder>", "folder for the merged checkpoint; new or empty")
    .option("--force", "overwrite an earlier export or merge")
    .action(run);
}

async function run(
  action: string,
  folder: string,
  adapter: string | undefined,
  flags: Flags,
): Promise<void> {
  const foreign = Object.keys(flags).find((key) => !OPTIONS[action]?.includes(key as keyof Flags));
  if (foreign !== undefined) {
    throw usageError(`policy ${action} has no option --${foreign}`, "See policy --help.");
  }
  if (action === "merge") return mergeInto(folder, adapter, flags);
  if (adapter !== undefined) {
    throw usageError(
      `policy ${action} takes one folder, found a second: ${adapter}`,
      "Only merge takes an adapter.",
    );
  }
  if (action === "show") await show(folder, flags);
  else await exportTo(folder, flags);
}

async function exportTo(folder: string, flags: Flags): Promise<void> {
  if (flags.outfile === undefined) {
    throw usageError("policy export needs --outfile FILE", "Add --outfile FILE.");
  }
  const checkpoint = await loadCheckpoint(folder);
  const batch = flags.batch ?? 1;
  const length = flags.length ?? Math.min(DEFAULT_LENGTH, checkpoint.maxLength);
  const { force } = flags;
  const bytes = await exportPolicy(checkpoint, flags.outfile, { batch, length, force });
  const { vocabulary } = checkpoint.architecture;
  print(`Wrote ${visible(flags.outfile)}, ${amount(bytes)}`);
  out(`  tokens  int64    [${batch}, ${length}]`);
  out(`  logits  float32  [${batch}, ${length}, ${vocabulary}]`);
}

async function show(folder: string, flags: Flags): Promise<void> {
  if (isAdapter(checkpointFolder(folder))) return showAdapter(folder, flags.format);
  const { checkpoint, stored } = await inspectCheckpoint(folder);
  const found = describeCheckpoint(checkpoint, stored);
  if (flags.format === "json") out(printableJson(found, 2));
  else showText(folder, found, stored);
}

function showText(folder: string, found: PolicyDescription, { files }: Stored): void {
  const { architecture: a, parameters: count, tokenizer } = found;
  out(paint("bold", wrap(visible(folder))));
  line("fingerprint", found.fingerprint);
  line("parameters", `${grouped(count.total)}`);
  line("", `${grouped(count.embedding)} embedding${a.tied ? " (tied with the head)" : ""}`);
  if (count.head > 0) line("", `${grouped(count.head)} head`);
  line("", `${grouped(count.per_layer)} in each of ${a.layers} layers`);
  line("", `${grouped(count.rest)} final norm${a.valueHead ? " and value head" : ""}`);
  out();
  line("architecture", `${found.model_type}, width ${a.width}, inner ${a.inner}`);
  line("", `${a.heads} attention heads of size ${a.headSize}, ${a.keyHeads} key-value heads`);
  const extras = [
    a.biases ? "biases" : "",
    a.headNorms ? "query and key norms" : "",
    a.valueHead ? "value head" : "",
    a.tied ? "tied head" : "untied head",
  ].filter((text) => text !== "");
  line(
    "",
    `${extras.join(", ")}; rope ${grouped(a.ropeTheta)}, epsilon ${a.epsilon.toExponential()}`,
  );
  line("context length", `${grouped(found.max_length)} tokens`);
  const special = `begin token ${tokenizer.begin_token ?? "none"}, end tokens ${tokenizer.end_tokens.join(", ") || "none"}`;
  line("tokenizer", `${tokenizer.kind}, ${grouped(tokenizer.tokens)} tokens; ${special}`);
  line("chat template", found.chat_template ? "yes" : "no");
  out();
  line("on disk", `${amount(found.stored.bytes)} as ${found.stored.dtypes.join(", ")}`);
  for (const { name, bytes } of files) line("", `${visible(name)}  ${amount(bytes)}`);
  out();
  if (found.trained === null) line("trained on", "history unknown");
  else {
    out("trained on");
    outline(found.trained);
  }
}

function line(name: string, value: string): void {
  out(hanging(`${name.padEnd(14)}  `, value));
}

/** A record or a list as indented lines, one for each plain value. */
function outline(value: JsonObject | readonly Json[], indent = "  "): void {
  for (const [key, inner] of Object.entries(value)) {
    const name = Array.isArray(value) ? `${Number(key) + 1}.` : `${visibleShort(key, 40)}:`;
    if (typeof inner === "object" && inner !== null) {
      out(indent + name);
      outline(inner, `${indent}  `);
    } else {
      const shown = typeof inner === "string" ? inner : JSON.stringify(inner ?? null);
      print(`${name} ${visibleShort(shown, 200)}`, indent);
    }
  }
}

/** 1,234,567 */
const grouped = (count: number) => count.toLocaleString("en");

function amount(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const power = Math.min(3, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${["", "kB", "MB", "GB"][power]}`;
}
