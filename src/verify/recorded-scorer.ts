/** Opens the scorer that a run names, if its code is the recorded one. */

import type { GuardedScorer } from "../core/score.ts";
import type { Manifest } from "../runs/schemas.ts";
import { fileExists } from "../runs/whole-file.ts";
import { openScorer } from "../scorers/open.ts";
import { candidatesOf, type Places, whereToLook } from "./find-input.ts";
import { Unreachable } from "./part.ts";

/** A scorer's identity as a manifest holds it. */
export type RecordedScorer = Manifest["scorer"];

/** Throws `Unreachable` with the reason where the scorer cannot score again what it scored. */
export async function openRecordedScorer(
  recorded: RecordedScorer,
  places: Places,
  timeoutMs: number | undefined,
): Promise<GuardedScorer> {
  const name = `${recorded.name} ${recorded.version}`;
  if (recorded.source === "function_text")
    throw new Unreachable(`The scorer ${name} was an object of a program: no file holds it.`);
  if (recorded.deterministic === false)
    throw new Unreachable(`The scorer ${name} is declared non-deterministic.`);
  const given = recorded.path === null ? [recorded.name] : candidatesOf(recorded.path, places);
  const there = recorded.path === null ? given : given.filter(fileExists);
  if (there.length === 0)
    throw new Unreachable(`The scorer ${recorded.path} is not there. ${whereToLook(places)}`);
  let other = "";
  for (const one of there) {
    const scorer = await openScorer(one, { timeoutMs });
    if (scorer.identity.source_sha256 === recorded.source_sha256) return scorer;
    other ||= scorer.identity.source_sha256;
    await scorer.close();
  }
  throw new Unreachable(
    `The code of the scorer ${there[0]}, or a file that it reads, is not the recorded one: its hash is ${short(other)}, that of the run ${short(recorded.source_sha256)}.`,
  );
}

const short = (hash: string) => `${hash.slice(0, 12)}…`;
