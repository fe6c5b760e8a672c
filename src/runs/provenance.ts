/** Where a completions file comes from: policy, prompt and sampling. */

import { dataError, messageOf } from "../core/errors.ts";
import type { Provenance } from "./schemas.ts";
import { parseWith, readIfThere } from "./whole-file.ts";

/** `rollouts.jsonl` is described by `rollouts.provenance.json` beside it. */
export function provenancePath(completions: string): string {
  return `${completions.replace(/\.jsonl$/, "")}.provenance.json`;
}

/** Undefined without a provenance file; refused when it describes another file. */
export async function readProvenance({
  path: completions,
  sha256,
}: {
  readonly path: string | null;
  readonly sha256: string;
}): Promise<Provenance | undefined> {
  if (completions === null) return undefined;
  const file = provenancePath(completions);
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
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
