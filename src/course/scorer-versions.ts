/** The versions of a workspace's scorer: as it was shipped, weakened on purpose, and restored. */

import { readFile } from "node:fs/promises";
import nodePath from "node:path";
import { canonicalJson, rngAt } from "../core/index.ts";
import { type ValidationReport, validationReportSchema } from "../runs/index.ts";
import {
  CORRECT,
  call,
  DEV,
  EXPLOITS,
  exported,
  FROZEN,
  hiddenSeed,
  jsonLines,
  savedJson,
} from "./evidence.ts";
import { demand, Gap } from "./gap.ts";
import { TEMPLATES } from "./init.ts";
import type { Room } from "./room.ts";

export const SCORER = "scoring.ts";

/** One version, in a folder where it can be run. */
export interface ScorerVersion {
  readonly path: string;
  readonly text: string;
  readonly commit: string;
}

export async function scorerAt(room: Room, commit: string): Promise<ScorerVersion> {
  const path = nodePath.join(await room.tree(commit), SCORER);
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text !== undefined) return { path, text, commit };
  throw new Gap({
    expected: `${SCORER} in commit ${commit.slice(0, 7)}`,
    found: "no such file",
    look: `git show --stat ${commit.slice(0, 7)}`,
  });
}

/** The one that `init` made, which must be the one that is shipped. */
export async function shippedScorer(room: Room): Promise<ScorerVersion> {
  const first = await scorerAt(room, room.commits[0]?.hash ?? "");
  const template = await readFile(nodePath.join(TEMPLATES, SCORER), "utf8");
  demand(first.text === template, {
    expected: `${SCORER} of the first commit as it was shipped`,
    found: "another content",
    look: `git show ${first.commit.slice(0, 7)}:${SCORER}`,
  });
  return first;
}

/** A committed version that pays for an exploit: the one with this source if there is one, else the first. */
export async function weakenedScorer(
  room: Room,
  golden: string,
  source?: string,
): Promise<ScorerVersion> {
  const weak: ScorerVersion[] = [];
  for (const { commit } of (await room.versions(SCORER)).slice(1)) {
    const version = await scorerAt(room, commit.hash);
    const report = await validation(room, golden, version).catch(() => undefined);
    if ((report?.counts.false_positive ?? 0) === 0) continue;
    if (report?.scorer.source_sha256 === source) return version;
    weak.push(version);
  }
  const [first] = weak;
  if (first) return first;
  throw new Gap({
    expected: `a committed version of ${SCORER} that pays for exploits`,
    found: "none",
    look: `git log --oneline -- ${SCORER}`,
    next: `Weaken one rule of ${SCORER} and commit it as "L4 sabotage".`,
  });
}

/** What validate-scorer says of a version; asked once for each pair. */
export function validation(
  room: Room,
  golden: string,
  { path }: ScorerVersion,
): Promise<ValidationReport> {
  return room.once(`validation ${golden} ${path}`, () => validate(room, golden, path));
}

async function validate(room: Room, golden: string, path: string): Promise<ValidationReport> {
  await room.read(golden);
  const file = `${room.scratch()}.json`;
  const args = ["--dataset", DEV, "--golden", golden, "--scorer", path, "--report", file];
  const { stderr, stopped } = await room.command("validate-scorer", "--quiet", ...args);
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text !== undefined) return validationReportSchema.parse(JSON.parse(text));
  throw new Gap({
    expected: `${golden} to be judged`,
    found: stopped ?? stderr.trim().split("\n").slice(0, 2).join(" "),
    look: golden,
  });
}

/** A saved report is what the command says of that version. */
export async function demandReport(
  room: Room,
  file: string,
  golden: string,
  version: ScorerVersion,
): Promise<ValidationReport> {
  const saved = await savedJson(room, file, validationReportSchema);
  const now = await validation(room, golden, version);
  const essence = ({ probes: _, probes_failed: __, ...rest }: ValidationReport) =>
    canonicalJson(rest);
  demand(essence(saved) === essence(now), {
    expected: `what validate-scorer says of ${golden} with ${SCORER} of commit ${version.commit.slice(0, 7)}: ${summary(now)}`,
    found:
      saved.scorer.source_sha256 === now.scorer.source_sha256
        ? summary(saved)
        : `a report on another version of ${SCORER}`,
    look: file,
  });
  return now;
}

function summary({ counts }: ValidationReport): string {
  return `${counts.agrees} agree, ${counts.false_positive} false positives, ${counts.false_negative} false negatives`;
}

export async function versionOfScorer(room: Room, { path }: ScorerVersion): Promise<string> {
  return String(await exported(room, path, SCORER, "SCORER_VERSION"));
}

/** The first input, if any, on which two versions disagree about reward or code. */
export async function behaviourDiffers(
  room: Room,
  a: ScorerVersion,
  b: ScorerVersion,
): Promise<string | undefined> {
  const inputs = await probeInputs(room);
  const [one, two] = await Promise.all(
    [a, b].map(({ path }) => call(room, path, SCORER, "score", inputs)),
  );
  const essence = (value: unknown) => {
    const { reward, code } = (value ?? {}) as { reward?: unknown; code?: unknown };
    return JSON.stringify([reward, code]);
  };
  const at = inputs.findIndex((_, i) => essence(one?.[i]) !== essence(two?.[i]));
  if (at < 0) return undefined;
  return `${JSON.stringify(inputs[at]?.[1])} gives ${essence(one?.[at])}, then ${essence(two?.[at])}`;
}

interface Answered {
  readonly id: string;
  readonly completion: string;
}

/** Everything in data/, and hidden variations of answers that are nearly in the format. */
async function probeInputs(room: Room): Promise<[object, string][]> {
  const examples = new Map(
    (await jsonLines<{ id: string; expected_answer: number }>(room, DEV)).map((row) => [
      row.id,
      row,
    ]),
  );
  const answered = await Promise.all(
    [FROZEN, CORRECT, EXPLOITS].map((file) => jsonLines<Answered>(room, file)),
  );
  const rng = rngAt(hiddenSeed(room, "4"));
  const pick = <T>(items: readonly T[]) => items[rng.below(items.length)] as T;
  const varied = [...examples.values()].flatMap((example): [object, string][] =>
    Array.from({ length: 8 }, () => {
      const leads = ["", " ", "\n", "\t", "So: "];
      const zeros = "0".repeat(pick([0, 0, 1, 2, 3, 5]));
      const number = pick(["", "+", "-"]) + zeros + String(Math.abs(example.expected_answer));
      const end = pick(["", "", " ", "\n", ".", " done", "\nFinal: 1"]);
      return [
        example,
        `${pick(leads)}${pick(["Final:", "final:", "Final"])}${pick([" ", " ", "", "\t", "\n", " ".repeat(1 + rng.below(7))])}${number}${end}`,
      ];
    }),
  );
  const known = answered
    .flat()
    .map(({ id, completion }): [object, string] => [examples.get(id) ?? { id }, completion]);
  return [...known, ...varied];
}
