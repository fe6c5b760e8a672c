/** What the maker of a completions file says about it: policy, prompt and sampling. */

import { readFile } from "node:fs/promises";
import { dataError, ioError, messageOf } from "../core/errors.ts";
import type { Provenance } from "./schemas.ts";
import { parseWith } from "./whole-file.ts";

/** `rollouts.jsonl` is described by `rollouts.provenance.json` beside it. */
export function provenancePath(completions: string): string {
  return `${completions.replace(/\.jsonl$/, "")}.provenance.json`;
}

/** Undefined when nobody said anything; refused when it speaks of another file. */
export async function readProvenance({
  path: completions,
  sha256,
}: {
  readonly path: string | null;
  readonly sha256: string;
}): Promise<Provenance | undefined> {
  if (completions === null) return undefined;
  const file = provenancePath(completions);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return undefined;
    throw ioError(`read ${file}`, error, "data");
  }
  const provenance = await parse(file, text);
  if (provenance.completions_sha256 !== undefined && provenance.completions_sha256 !== sha256) {
    throw dataError(
      `${file} describes another version of ${completions}`,
      "The completions changed after they were described; make both again.",
    );
  }
  return provenance;
}

async function parse(file: string, text: string): Promise<Provenance> {
  try {
    // Loaded only here: most evaluations have no provenance, and the schemas take time to load.
    const { provenanceSchema } = await import("./schemas.ts");
    return parseWith(provenanceSchema, JSON.parse(text));
  } catch (error) {
    throw dataError(
      `${file} is not a provenance file: ${messageOf(error)}`,
      "See schemas/provenance@1.json.",
    );
  }
}
