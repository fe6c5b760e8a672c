import type { Command } from "commander";
import { DEFAULT_ENCODING, ENCODINGS, loadTokenizer } from "../../policy/encodings.ts";
import { FORMAT, type Format } from "../options.ts";
import { checkedInteger, scoreText } from "../tokens/score-text.ts";
import { type Inspection, jsonLines, printLines, textLines } from "../tokens/screen.ts";
import { LIMIT_BYTES, notes, readText, tooLong, unescaped } from "../tokens/text.ts";

interface Flags {
  readonly encoding: string;
  readonly expect?: string;
  readonly escapes?: boolean;
  readonly all?: boolean;
  readonly format: Format;
}

export const help = `Encodings, and models that use them:
${Object.entries(ENCODINGS)
  .map(([name, { models }]) => `  ${name.padEnd(13)}  ${models.join(", ")}`)
  .join("\n")}

Examples:
  lockedroom token-inspect "Final: 323"
  lockedroom token-inspect "Final:  323"
  lockedroom token-inspect --escapes "Final:\\n323"
  lockedroom token-inspect "Final: 0323" --expect 323
  printf 'Final: 323' | lockedroom token-inspect --encoding cl100k_base
  lockedroom token-inspect -- "-n"        text that starts with a dash`;

export function define(command: Command): void {
  command
    .description("Shows how a text is tokenized, and how the built-in scorer scores it.")
    .argument("[text]", "the text (default: standard input)")
    .option("--encoding <name>", "tokenizer", DEFAULT_ENCODING)
    .option("--expect <integer>", "expected answer, to compute a reward")
    .option("--escapes", "interpret \\n \\t \\r \\\\ \\xHH \\uXXXX \\u{X} as characters")
    .option("--all", "show all tokens and the full text")
    .addOption(FORMAT)
    .action(run);
}

async function run(argument: string | undefined, flags: Flags): Promise<void> {
  const expected = flags.expect === undefined ? undefined : checkedInteger(flags.expect);
  const tokenizer = await loadTokenizer(flags.encoding);
  const given = argument ?? (await readText(process.stdin));
  const text = flags.escapes ? unescaped(given) : given;
  if (Buffer.byteLength(text) > LIMIT_BYTES) throw tooLong();
  const inspection: Inspection = {
    text,
    tokenizer,
    ids: tokenizer.encode(text),
    score: scoreText(text, expected),
    notes: notes(text, { piped: argument === undefined, escapes: flags.escapes === true }),
  };
  printLines(
    flags.format === "json" ? jsonLines(inspection) : textLines(inspection, flags.all === true),
  );
}
