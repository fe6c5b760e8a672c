/** `lockedroom graders import`: published graders as files that every command takes. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { dataError, usageError } from "../core/errors.ts";
import type { Grader } from "../graders/grader-schema.ts";
import { combined, distinct, readPublished } from "../graders/import-published.ts";
import { itemCheck } from "../graders/item-schema.ts";
import { parseJsonFile } from "../graders/settings.ts";
import { readGiven } from "../runs/whole-file.ts";
import { out, print } from "./terminal.ts";

export interface ImportFlags {
  readonly outdir?: string;
  readonly combine?: string;
  readonly dataset?: string;
}

export async function importGraders(file: string, flags: ImportFlags): Promise<void> {
  const { outdir, combine, dataset } = flags;
  if (outdir === undefined)
    throw usageError("graders import needs --outdir", "Name a folder for the grader files.");
  const published = await readPublished(parseJsonFile(await readGiven(file), file), file);
  const { itemSchema, responseFormat, notes } = published;
  const rows = dataset === undefined ? undefined : await checkItems(dataset, itemSchema, file);
  const graders =
    combine === undefined ? published.graders : [combined(published.graders, combine, file)];
  const written = [
    ...named(graders),
    ...(itemSchema ? [["item_schema.json", itemSchema] as const] : []),
    ...(responseFormat ? [["response_format.json", responseFormat] as const] : []),
  ];
  const taken = written.find(([name]) => existsSync(path.join(outdir, name)));
  if (taken !== undefined)
    throw usageError(`${path.join(outdir, taken[0])} exists already`, "Choose another --outdir.");
  mkdirSync(outdir, { recursive: true });
  for (const [name, value] of written) {
    writeFileSync(path.join(outdir, name), `${JSON.stringify(value, null, 2)}\n`);
    const type = "type" in value && name !== "item_schema.json" ? `  ${value.type}` : "";
    out(`${path.join(outdir, name)}${type}`);
  }
  if (rows !== undefined) out(`${dataset}: ${rows} items agree with item_schema`);
  if (combine !== undefined && published.graders.some((one) => one.pass_threshold !== undefined))
    print("Note: a formula has rewards, not passes; a pass_threshold of a part is kept, unused.");
  for (const note of notes) print(`Note: ${note}`);
}

function named(graders: readonly Grader[]): (readonly [string, Grader])[] {
  const plain = ({ name, type }: Grader) =>
    (name ?? type)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "")
      .slice(0, 60) || type;
  const names = distinct(graders.map(plain));
  return graders.map((grader, i) => [`${names[i]}.json`, grader] as const);
}

async function checkItems(
  dataset: string,
  schema: Parameters<typeof itemCheck>[0] | undefined,
  file: string,
): Promise<number> {
  if (schema === undefined)
    throw usageError(`${file} has no item_schema to check ${dataset} by`, "Leave --dataset out.");
  const wrong = itemCheck(schema, file);
  const lines = (await readGiven(dataset)).replace(/^\ufeff/, "").split("\n");
  let rows = 0;
  for (const [i, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const place = `${dataset}:${i + 1}`;
    const problem = wrong(parseJsonFile(line, place));
    if (problem !== undefined)
      throw dataError(`${place}: ${problem}`, "The data and the eval's item_schema disagree.");
    rows++;
  }
  return rows;
}
