/** A verdict as a file besides what is printed, whole or not there. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ioError } from "../core/errors.ts";
import { printableJson } from "./terminal.ts";

export function saveReport(file: string, report: unknown): void {
  const temporary = `${file}.partial`;
  try {
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
    writeFileSync(temporary, `${printableJson(report, 2)}\n`);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw ioError(`write the report ${file}`, error, "usage");
  }
}
