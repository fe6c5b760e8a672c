/** Opens the scorer that a run names, if its code is the recorded one. */

import path from "node:path";
import type { GuardedScorer } from "../core/score.ts";
import type { OpenAxis } from "../loops/axes.ts";
import type { Manifest } from "../runs/schemas.ts";
import { fileExists } from "../runs/whole-file.ts";
import { codeOf, currentCode } from "../scorers/load.ts";
import { openScorer } from "../scorers/open.ts";
import { candidatesOf, lookBelow, type Places, whereToLook } from "./find-input.ts";
import { Unreachable } from "./part.ts";

/** A scorer's identity as a manifest holds it. */
export type RecordedScorer = Manifest["scorer"];

/** Where a recorded scorer may be. */
export interface ScorerPlaces extends Places {
  /** The file to use in place of the one that the run names. */
  readonly scorer?: string | undefined;
  /** By axis, the file or built-in to use in place of the one that the run names; no other is run. */
  readonly axes?: Readonly<Record<string, string>> | undefined;
}

/**
 * Throws `Unreachable` with the reason where the scorer cannot score again what it scored. A file is
 * not run before its code is known to be the recorded one.
 */
export async function openRecordedScorer(
  recorded: RecordedScorer,
  places: ScorerPlaces,
  timeoutMs: number | undefined,
): Promise<GuardedScorer> {
  const name = `${recorded.name} ${recorded.version}`;
  if (recorded.source === "function_text")
    throw new Unreachable(`The scorer ${name} was an object of a program: no file holds it.`);
  if (recorded.deterministic === false)
    throw new Unreachable(`The scorer ${name} is declared non-deterministic.`);
  // The code of a built-in is here, whatever file the run names.
  const builtIn = currentCode({ name: recorded.name, path: null });
  if (recorded.path === null || builtIn === recorded.source_sha256) {
    if (builtIn !== recorded.source_sha256)
      throw otherCode(recorded.name, builtIn ?? "", recorded.source_sha256);
    return openScorer(recorded.name, { timeoutMs });
  }
  const wanted = places.scorer ?? recorded.path;
  const otherBuiltIn = currentCode({ name: wanted, path: null });
  if (otherBuiltIn !== undefined) throw otherCode(wanted, otherBuiltIn, recorded.source_sha256);
  const there = await scorerFiles(wanted, places);
  if (there.length === 0)
    throw new Unreachable(`The scorer ${wanted} is not there. ${whereToLook(places)}`);
  let other: Error | undefined;
  for (const one of there) {
    const code = currentCode({ name: recorded.name, path: one }) ?? "";
    if (code !== codeOf(recorded)) {
      other ??= otherCode(one, code, codeOf(recorded));
      continue;
    }
    const scorer = await openScorer(one, { timeoutMs });
    if (scorer.identity.source_sha256 === recorded.source_sha256) return scorer;
    other ??= otherCode(one, scorer.identity.source_sha256, recorded.source_sha256);
    await scorer.close();
  }
  throw other;
}

/** The scorers of a run's axes; all are closed again where one cannot be opened. */
export async function openRecordedAxes(
  recorded: Manifest["axes"],
  { axes: given, ...places }: ScorerPlaces,
  timeoutMs: number | undefined,
): Promise<OpenAxis[]> {
  const open: OpenAxis[] = [];
  try {
    for (const { name, scorer } of recorded ?? []) {
      if (given !== undefined && !Object.hasOwn(given, name))
        throw new Unreachable(`No scorer is known for the axis ${name}.`);
      const at = { ...places, scorer: given?.[name] };
      open.push({ name, scorer: await openRecordedScorer(scorer, at, timeoutMs) });
    }
    return open;
  } catch (error) {
    for (const { scorer } of open) await scorer.close();
    throw error;
  }
}

/** By name: its code is compared before it is loaded, because loading runs it. */
async function scorerFiles(wanted: string, places: Places): Promise<string[]> {
  const named = candidatesOf(wanted, places).filter(fileExists);
  const { files } = await lookBelow(places);
  const below = files.map(({ file }) => file);
  const same = below.filter((file) => path.basename(file) === path.basename(wanted));
  return [...new Set([...named, ...same])];
}

function otherCode(file: string, found: string, recorded: string): Unreachable {
  return new Unreachable(
    `The code of the scorer ${file}, or a file that it reads, is not the recorded one: its hash is ${short(found)}, that of the run ${short(recorded)}.`,
  );
}

const short = (hash: string) => (hash === "" ? "unknown" : `${hash.slice(0, 12)}…`);
