/**
 * The folder of a review: manifest.json at the start, a line of labels.jsonl for each label as soon as
 * it is given, summary.json once every pair has one. The same command continues it.
 */

import { rm } from "node:fs/promises";
import path from "node:path";
import { dataError, ioError, usageError } from "../core/errors.ts";
import { canonicalJson } from "../core/json.ts";
import { LABELS, MANIFEST, NOTE, PAIRS, REVIEW_SUMMARY_SCHEMA, SUMMARY } from "./artifacts.ts";
import { requireKind } from "./folder-kind.ts";
import { JsonlFile } from "./jsonl.ts";
import { type GrowingFile, lastLineEnd, openIfThere } from "./line-files.ts";
import { manifestFingerprint } from "./manifest.ts";
import { reviewFacts } from "./note-facts.ts";
import type { PairRow } from "./preference-schemas.ts";
import {
  type ReviewFigures,
  type ReviewLabel,
  type ReviewManifest,
  type ReviewSummary,
  reviewLabelSchema,
  reviewManifestSchema,
  reviewSummarySchema,
} from "./review-schemas.ts";
import { artifactJson, RunFolder } from "./run-folder.ts";
import { runNote, stamped } from "./run-note.ts";
import { fileExists, parseWith, readArtifact, sha256OfFile, writeWhole } from "./whole-file.ts";

const AGAIN = "Start a new review with another --outdir.";

/** What was labelled so far, in a finished review or an unfinished one. */
export interface ReadReview {
  readonly dir: string;
  readonly manifest: ReviewManifest;
  readonly labels: readonly ReviewLabel[];
  /** Undefined for an unfinished one. */
  readonly summary: ReviewSummary | undefined;
}

export async function readReview(dir: string): Promise<ReadReview> {
  const content = await requireKind(dir, ["review"]);
  if (content.kind === undefined)
    throw dataError(
      `${dir} is not a review: it has no ${MANIFEST}`,
      "Name the folder of a review.",
    );
  const manifest = await readManifest(dir);
  const { labels } = await readLabels(path.join(dir, LABELS));
  const summary = content.summary
    ? await readArtifact(path.join(dir, SUMMARY), reviewSummarySchema, AGAIN)
    : undefined;
  return { dir, manifest, labels, summary };
}

/** The names of the files that differ from what a finished review wrote. */
export async function editedReviewFiles(
  dir: string,
  { manifest, summary }: { readonly manifest: ReviewManifest; readonly summary: ReviewSummary },
): Promise<string[]> {
  const edited = manifestFingerprint(manifest) === summary.manifest_sha256 ? [] : [MANIFEST];
  for (const [name, hash] of Object.entries(summary.files)) {
    const found = await sha256OfFile(path.join(dir, name)).catch(() => undefined);
    if (found !== hash) edited.push(name);
  }
  return edited;
}

export class ReviewFolder {
  readonly #folder: RunFolder;
  readonly #labels: ReviewLabel[];
  /** Where each line of labels.jsonl begins. */
  readonly #starts: number[];
  #file: GrowingFile;

  private constructor(folder: RunFolder, file: GrowingFile, found: FoundLabels) {
    this.#folder = folder;
    this.#file = file;
    this.#labels = [...found.labels];
    this.#starts = [...found.starts];
  }

  /** Claims a new folder, or one with a review of the same pairs. */
  static async open(dir: string, manifest: ReviewManifest): Promise<ReviewFolder> {
    const inputs = manifest.inputs.map(({ path: file }) => file);
    const folder = await RunFolder.open(dir, "review", { resume: true, inputs });
    try {
      const begun = fileExists(folder.file(MANIFEST));
      if (begun) requireSame(dir, await readManifest(dir), manifest);
      const found = await readLabels(folder.file(LABELS));
      if (!begun) await writeWhole(folder.file(MANIFEST), artifactJson(manifest));
      const file = await folder.growing(LABELS, found.bytes);
      return new ReviewFolder(folder, file, found);
    } catch (error) {
      await folder.leave();
      throw ioError(`write to ${dir}`, error, "usage");
    }
  }

  /** Nothing is left to do. */
  get finished(): boolean {
    return fileExists(this.#folder.file(SUMMARY));
  }

  get labels(): readonly ReviewLabel[] {
    return this.#labels;
  }

  /** The label is on the disk when this returns. */
  async add(label: ReviewLabel): Promise<void> {
    await rm(this.#folder.file(SUMMARY), { force: true });
    this.#starts.push(this.#file.bytes);
    this.#labels.push(label);
    await this.#file.add(canonicalJson(label));
    await this.#file.sync();
  }

  /** Takes the last label back. */
  async undo(): Promise<void> {
    const start = this.#starts.pop();
    if (start === undefined) return;
    await rm(this.#folder.file(SUMMARY), { force: true });
    this.#labels.pop();
    await this.#file.close();
    this.#file = await this.#folder.growing(LABELS, start);
  }

  /** Lets go; the same command continues. */
  async leave(): Promise<void> {
    await this.#folder.leave();
  }

  async finish(manifest: ReviewManifest, figures: ReviewFigures): Promise<ReviewSummary> {
    const files = manifest.pairs.single_turn ? { [PAIRS]: pairLines(this.#labels) } : {};
    const summary: ReviewSummary = {
      schema: REVIEW_SUMMARY_SCHEMA,
      ...figures,
      files: await this.#folder.seal(files),
      manifest_sha256: manifestFingerprint(manifest),
    };
    const note = runNote(reviewFacts(manifest, summary, this.#labels.slice(0, 2)));
    await this.#folder.finish(manifest, summary, { ...files, [NOTE]: stamped(note) });
    return summary;
  }
}

/** For train dpo: the label is all that is known of the reward. */
function pairLines(labels: readonly ReviewLabel[]): string {
  const rows = labels.flatMap(({ id, prompt, a, b, better }): PairRow[] => {
    if (better !== "a" && better !== "b") return [];
    const [chosen, rejected] = better === "a" ? [a, b] : [b, a];
    return [{ id, prompt, chosen, rejected, chosen_reward: 1, rejected_reward: 0 }];
  });
  return rows.map((row) => `${canonicalJson(row)}\n`).join("");
}

function readManifest(dir: string): Promise<ReviewManifest> {
  return readArtifact(path.join(dir, MANIFEST), reviewManifestSchema, AGAIN);
}

interface FoundLabels {
  readonly labels: readonly ReviewLabel[];
  readonly starts: readonly number[];
  /** Of whole lines: a last one without an end was being written when the process died. */
  readonly bytes: number;
}

async function readLabels(file: string): Promise<FoundLabels> {
  const handle = await openIfThere(file);
  if (handle === undefined) return { labels: [], starts: [], bytes: 0 };
  const upTo = await lastLineEnd(handle, (await handle.stat()).size).finally(() => handle.close());
  const labels: ReviewLabel[] = [];
  const starts: number[] = [];
  let bytes = 0;
  const toLabel = (fields: Record<string, unknown>) => parseWith(reviewLabelSchema, fields);
  for await (const batch of new JsonlFile(file, toLabel, { regular: true, upTo }).batches()) {
    for (const label of batch) {
      labels.push(label);
      starts.push(bytes);
      bytes += Buffer.byteLength(canonicalJson(label)) + 1;
    }
  }
  if (bytes === upTo) return { labels, starts, bytes };
  throw dataError(
    `${file} is not as review wrote it`,
    "It was changed by hand or damaged. Restore it, or start a new review with another --outdir.",
  );
}

function requireSame(dir: string, before: ReviewManifest, now: ReviewManifest): void {
  const differs = [
    ...(before.pairs.sha256 === now.pairs.sha256 ? [] : ["the pairs"]),
    ...(before.settings.seed === now.settings.seed ? [] : ["--seed"]),
    ...(before.settings.sample === now.settings.sample ? [] : ["--sample"]),
  ];
  if (differs.length === 0) return;
  throw usageError(
    `${dir} is a review of something else; what differs: ${differs.join(", ")}`,
    "Give the same files and flags as then, or choose another --outdir.",
  );
}
