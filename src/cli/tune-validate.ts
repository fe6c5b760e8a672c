/** `lockedroom tune validate`: whether a training file may be uploaded, and what is wrong with it. */

import { Option } from "commander";
import { usageError } from "../core/errors.ts";
import { visible } from "../core/visible.ts";
import { DEFAULT_ENCODING } from "../policy/encodings.ts";
import type { Finding } from "../tune/findings.ts";
import { TUNE_KINDS, type TuneKind } from "../tune/kinds.ts";
import { type ValidateOptions, type Validation, validateFile } from "../tune/validate.ts";
import { FORMAT, type Format, wholeNumber } from "./options.ts";
import { startProgress, totalBytes } from "./progress.ts";
import type { Subcommand } from "./subcommand.ts";
import { counted, endOf, hanging, out, paint, print, printableJson } from "./terminal.ts";

interface Flags {
  readonly kind?: TuneKind;
  readonly against?: string;
  readonly tokens?: string;
  readonly maxTokens?: number;
  readonly strict?: boolean;
  readonly format: Format;
  readonly quiet?: boolean;
}

export const tuneValidate: Subcommand = {
  summary: "check a training or validation file by every documented rule",
  usage: "<file> [options]",
  description:
    "Checks a JSONL file for SFT, DPO or RFT on Azure and OpenAI by every documented rule, and names line and reason.",
  help: `The kind is found from the first row where --kind does not say it. With
--against the file is the validation file of a job: other limits hold, and no
prompt or id may be in the training file. Errors make a job fail or teach
something else; warnings do not. docs/tune-data.md lists the rules.

--tokens counts the tokens of each row by the encoding of a model's family
(default ${DEFAULT_ENCODING}: GPT-4o, GPT-4.1, GPT-5, o4-mini) and needs the package
gpt-tokenizer. What a service counts may differ by a few tokens a message.

Exit codes:
  0  valid    1  errors (with --strict: or warnings)
  64 wrong usage    65 the file cannot be read

Examples:
  lockedroom tune validate training.jsonl
  lockedroom tune validate validation.jsonl --against training.jsonl
  lockedroom tune validate training.jsonl --kind rft --tokens --max-tokens 8000
  lockedroom tune validate training.jsonl --format json`,
  define(command, exit) {
    command
      .argument("<file>", "file to check, JSONL")
      .addOption(new Option("--kind <kind>", "kind of the file").choices(TUNE_KINDS))
      .option("--against <file>", "training file; the file to check is its validation file")
      .addOption(
        new Option("--tokens [encoding]", "also count tokens, by this encoding").preset(
          DEFAULT_ENCODING,
        ),
      )
      .option("--max-tokens <n>", "with --tokens: most tokens of a row", wholeNumber(1))
      .option("--strict", "exit with 1 for warnings as well")
      .addOption(FORMAT)
      .option("--quiet", "print only errors and warnings")
      .action(async (_name: string, file: string, flags: Flags) => {
        exit(await validate(file, flags));
      });
  },
};

async function validate(file: string, flags: Flags): Promise<number> {
  const { kind, against, quiet, format } = flags;
  const tokens = await tokenOptions(flags);
  const progress = startProgress("Checking", totalBytes(file), quiet || format === "json");
  const found = await validateFile(file, {
    ...{ kind, against, tokens },
    onBytes: (bytes) => progress.add(bytes),
  }).finally(() => progress.stop());
  if (format === "json") out(printableJson(found, 2));
  else report(found, flags);
  return found.valid && !(flags.strict && found.warnings > 0) ? 0 : 1;
}

async function tokenOptions({ tokens, maxTokens }: Flags): Promise<ValidateOptions["tokens"]> {
  if (tokens === undefined) {
    if (maxTokens === undefined) return undefined;
    throw usageError("--max-tokens counts tokens", "Add --tokens.");
  }
  const { loadTokenizer } = await import("../policy/encodings.ts");
  const tokenizer = await loadTokenizer(tokens);
  return { encoding: tokens, count: (text) => tokenizer.encode(text).length, most: maxTokens };
}

function report(found: Validation, { quiet, against }: Flags): void {
  const { kind, rows, bytes, tokens, errors, warnings } = found;
  if (!quiet) {
    const what = kind ? `${kind} ${found.role} file` : "no known kind";
    out(paint("bold", endOf(found.file, 78)));
    print(`${what}, ${counted(rows, "row")}, ${size(bytes)}${mark(found)}`, "  ");
    if (tokens) {
      const { total, least, most, mean, encoding } = tokens;
      const each = `${amount(least)} to ${amount(most)} a row, mean ${amount(Math.round(mean))}`;
      print(`${amount(total)} tokens by ${encoding}: ${each}`, "  ");
    }
  }
  for (const severity of ["error", "warning"] as const) {
    for (const finding of found.findings) if (finding.severity === severity) printFinding(finding);
  }
  if (found.findings.length > 0) out();
  if (errors > 0) {
    print(paint("red", `NOT VALID: ${counted(errors, "error")}${also(warnings)}.`));
  } else if (!quiet) {
    print(paint("green", `VALID${warnings > 0 ? `, with ${counted(warnings, "warning")}` : ""}.`));
    if (kind === "rft" && !against)
      print("A job needs a validation file, too: check it with --against this file.");
  }
}

const also = (warnings: number) => (warnings > 0 ? ` and ${counted(warnings, "warning")}` : "");
const mark = (found: Validation) => (found.byte_order_mark ? ", with a byte order mark" : "");

function printFinding({ rule, severity, about, count, first }: Finding): void {
  const colour = severity === "error" ? "red" : "yellow";
  out();
  out(
    `${paint(colour, severity)} ${paint("bold", rule)}, ${amount(count)} times`.replace(ONCE, ""),
  );
  print(`${about}.`, "  ");
  for (const { line, reason } of first) {
    const place = line === null ? "    " : `    line ${line}: `;
    out(hanging(place, visible(reason)));
  }
  if (count > first.length) out(`    and ${amount(count - first.length)} more`);
}

const ONCE = /, 1 times$/;
const amount = (value: number) => value.toLocaleString("en");

function size(bytes: number): string {
  return bytes < 1e6 ? `${amount(bytes)} bytes` : `${amount(Math.round(bytes / 1e5) / 10)} MB`;
}
