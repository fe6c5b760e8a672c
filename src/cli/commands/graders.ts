import { existsSync, statSync } from "node:fs";
import { Argument, type Command } from "commander";
import { dataError, usageError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { isFields } from "../../core/records.ts";
import { openGrader } from "../../graders/open-grader.ts";
import { runReply } from "../../graders/run-reply.ts";
import { isSampleObject, sampleOf } from "../../graders/sample.ts";
import { type GraderFile, parseJsonFile, readGraderFile } from "../../graders/settings.ts";
import { validateGrader } from "../../graders/validate.ts";
import { readGiven } from "../../runs/whole-file.ts";
import { addPythonOption } from "../grader-host.ts";
import { type ImportFlags, importGraders } from "../graders-import.ts";
import { out, printableJson } from "../terminal.ts";

interface Flags extends ImportFlags {
  readonly grader?: string;
  readonly item?: string;
  readonly sample?: string;
}

export const help = `The JSON is that of the OpenAI and Azure APIs, alone or as
{ "grader": …, "settings": … }; the settings are for what their documentation
leaves open, such as the function behind fuzzy_match. See docs/graders.md.
A grader file is also a scorer: eval --scorer grader.json.

import reads an eval (testing_criteria, data_source_config), a job of
reinforcement fine-tuning (method.reinforcement.grader) or a list of graders,
and writes one file for each grader, because an eval reports each criterion by
itself; with --combine one multi grader. Fields keep their meaning and values.
A grader that names a field which item_schema lacks is refused; --dataset checks
every row by the schema. A response_format is written in its nested shape.

Examples:
  lockedroom graders validate grader.json
  lockedroom graders run --grader grader.json --item '{"answer":"42"}' \\
    --sample "42"
  lockedroom graders run --grader grader.json --item item.json --sample out.txt
  lockedroom graders import eval.json --outdir graders
  lockedroom graders import eval.json --outdir graders --dataset items.jsonl \\
    --combine "0.8*exact + 0.2*near"`;

export function define(command: Command): void {
  addPythonOption(command)
    .description(
      "Checks a grader JSON, runs it on one item and one sample and prints the reply of the API (a file may stand in place of each JSON or text), or imports published graders as files.",
    )
    .addArgument(
      new Argument("<action>", "validate, run or import").choices(["validate", "run", "import"]),
    )
    .argument("[file]", "for validate and import: the file")
    .option("--grader <file>", "the grader's file")
    .option("--item <json|file>", "the item: a JSON object, or a file with one (default: {})")
    .option("--sample <text|file>", "the model's output, or a file with it")
    .option("--outdir <folder>", "for import: folder of the grader files")
    .option("--combine <formula>", "for import: one multi grader with this formula, or mean")
    .option("--dataset <file>", "for import: JSONL to check against item_schema")
    .action(run);
}

async function run(action: string, file: string | undefined, flags: Flags): Promise<void> {
  if (file !== undefined && flags.grader !== undefined)
    throw usageError("the grader is given twice", "Leave out the file, or --grader.");
  const place = file ?? flags.grader;
  if (place === undefined) throw usageError(`graders ${action} needs a grader`, "Name its file.");
  if (action === "import") return importGraders(place, flags);
  const grader = readGraderFile(parseJsonFile(await readGiven(place), place), place);
  if (action === "run") return runOnce(grader, place, flags);
  const other = flags.item ?? flags.sample;
  if (other !== undefined)
    throw usageError("graders validate takes no item and no sample", "Use graders run.");
  await validateGrader(grader, place);
  out(printableJson({ grader: grader.grader }, 2));
}

async function runOnce(file: GraderFile, place: string, flags: Flags): Promise<void> {
  if (flags.sample === undefined)
    throw usageError("graders run needs a sample", 'Add --sample "TEXT".');
  const [item, sample] = [await itemOf(flags.item ?? "{}"), await sampleGiven(flags.sample)];
  const opened = await openGrader(file.grader, file.settings, place);
  try {
    await opened.ready?.();
    const began = performance.now();
    const given = await opened.grade({ item, sample });
    const seconds = Math.round(performance.now() - began) / 1000;
    out(printableJson(runReply(file.grader, given, seconds), 2));
  } finally {
    await opened.close?.();
  }
}

async function itemOf(given: string): Promise<JsonObject> {
  const text = given.trimStart().startsWith("{") ? given : await readGiven(given);
  const value = parseJsonFile(text, "the item");
  if (isFields(value)) return value as JsonObject;
  throw dataError("the item is not a JSON object", 'Give one such as {"answer":"42"}.');
}

/** A file that holds an object with `output_text` or tool calls is the sample itself. */
async function sampleGiven(given: string) {
  if (!existsSync(given) || !statSync(given).isFile()) return sampleOf(given);
  const text = await readGiven(given);
  if (!given.endsWith(".json")) return sampleOf(text);
  const value = parseJsonFile(text, given);
  return sampleOf(isSampleObject(value) ? value : text);
}
