/** Writes output files atomically: complete, or not at all. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ioError } from "../core/errors.ts";
import { printableJson } from "./terminal.ts";

export function saveReport(file: string, report: unknown): void {
  saveFile(file, `${printableJson(report, 2)}\n`);
}

export function saveFile(file: string, text: string): void {
  const temporary = `${file}.partial`;
  try {
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
    writeFileSync(temporary, text);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw ioError(`write the report ${file}`, error, "usage");
  }
}
