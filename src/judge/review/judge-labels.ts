/** What a judge prefers in each pair, from the files that the commands about judges write. */

import path from "node:path";
import { dataError } from "../../core/errors.ts";
import { isFields } from "../../core/records.ts";
import { JUDGEMENTS, RESULTS } from "../../runs/artifacts.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import type { ReviewLabel } from "../../runs/review-schemas.ts";
import { fileExists, isFolder } from "../../runs/whole-file.ts";
import type { Choice } from "./pair.ts";

interface Preference {
  readonly id: string;
  /** Undefined where the row says nothing about a pair. */
  readonly better: Choice | undefined;
}

interface Labelled {
  /** The answers of a pair, by its id. */
  answers(id: string): Pick<ReviewLabel, "a" | "b"> | undefined;
  /** Which sample of each task was labelled, from 1. */
  readonly sample: number;
}

type ToPreference = (fields: Record<string, unknown>, labelled: Labelled) => Preference;

/** By the file that tells them apart; the candidate is `b`. */
const FOLDERS: readonly { readonly file: string; readonly read: ToPreference }[] = [
  { file: path.join("candidate", RESULTS), read: ofJudgedRow },
  { file: JUDGEMENTS, read: ofAuditedRequest },
];

const VERDICTS =
  "Name the --outdir of judge score --against or of judge-audit, or a file with id and better.";

/** `given` is a folder of judge score --against or of judge-audit, or a file of id and better. */
export async function readJudgeLabels(
  given: string,
  labels: readonly ReviewLabel[],
  sample: number,
): Promise<ReadonlyMap<string, Choice>> {
  const folder = isFolder(given)
    ? FOLDERS.find(({ file }) => fileExists(path.join(given, file)))
    : undefined;
  if (isFolder(given) && !folder)
    throw dataError(`${given} holds no verdicts about pairs`, VERDICTS);
  const [file, read] = folder ? [path.join(given, folder.file), folder.read] : [given, ofLabel];
  const byId = new Map(labels.map((label) => [label.id, label]));
  const labelled: Labelled = { sample, answers: (id) => byId.get(id) };
  const verdicts = new Map<string, Choice>();
  const lines = new JsonlFile(file, (fields) => read(fields, labelled));
  for await (const batch of lines.batches())
    for (const { id, better } of batch) if (better) verdicts.set(id, better);
  if (verdicts.size === 0) throw dataError(`${file} holds no verdict about a pair`, VERDICTS);
  return verdicts;
}

const CODES: Readonly<Record<string, Choice>> = {
  ...{ preferred: "b", tied: "tie", not_preferred: "a" },
};

/** The candidate's rows of judge score --against. */
function ofJudgedRow(fields: Record<string, unknown>, { sample }: Labelled): Preference {
  const { outcome_code: code, episode } = fields;
  const number = isFields(episode) ? episode.sample : 0;
  return { id: idIn(fields), better: number === sample - 1 ? CODES[String(code)] : undefined };
}

/** Of the requests of an audit those about the pair as it is; which answer is which, its text says. */
function ofAuditedRequest(fields: Record<string, unknown>, { answers }: Labelled): Preference {
  const id = idIn(fields);
  const pair = fields.probe === "pair" ? answers(id) : undefined;
  const attempts = Array.isArray(fields.attempts) ? fields.attempts.filter(isFields) : [];
  const scoreOf = (text: string) => attempts.find((one) => one.text === text)?.score;
  const [a, b] = pair ? [scoreOf(pair.a), scoreOf(pair.b)] : [];
  const isScored = typeof a === "number" && typeof b === "number";
  return { id, better: isScored ? preferred(a, b) : undefined };
}

function ofLabel(fields: Record<string, unknown>): Preference {
  const { better } = fields;
  if (better === undefined || better === null) return { id: idIn(fields), better: undefined };
  if (better === "a" || better === "b" || better === "tie") return { id: idIn(fields), better };
  throw new TypeError('better is not "a", "b" or "tie"');
}

function preferred(a: number, b: number): Choice {
  if (a === b) return "tie";
  return a > b ? "a" : "b";
}

function idIn({ id }: Record<string, unknown>): string {
  if (typeof id === "string") return id;
  throw new TypeError("id: not a text");
}
