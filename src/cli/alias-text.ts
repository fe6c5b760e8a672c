/** Entries of a policy alias as lines of text. */

import { existsSync } from "node:fs";
import path from "node:path";
import { describePolicy } from "../core/same-policy.ts";
import { visible } from "../core/visible.ts";
import { differenceOf, SLICE_STATES, signed } from "../gate/words.ts";
import type { AliasEntry } from "../runs/alias-entry.ts";
import { type AliasPlace, sourceOf } from "../runs/alias-history.ts";
import { MANIFEST } from "../runs/artifacts.ts";
import { commandLines, hanging, out, print, program, warning } from "./terminal.ts";

/** How the alias is written on the command line. */
export function aliasFlag({ name, dir }: AliasPlace): string {
  return dir === `aliases/${name}` ? name : dir;
}

/** After a promotion or a rollback: what the alias names now, and the way back. */
export function printMoved(
  place: AliasPlace,
  entry: AliasEntry,
  before: AliasEntry | undefined,
): void {
  const { number, action, forced, reason, verdict } = entry;
  const done = action === "promote" ? "is promoted" : `returned to entry ${entry.restores}`;
  print(`${place.name} ${done}: entry ${number} of its history.`);
  out();
  line("policy", policyText(place, entry));
  line("before", before ? policyText(place, before) : "none");
  if (verdict) printVerdict(verdict);
  if (reason !== null) line("reason", visible(reason));
  printStated(entry);
  if (forced !== null) out(warning(`forced although ${visible(forced)}`));
  out();
  print(`Use it: --policy alias:${aliasFlag(place)}`);
  if (entry.rollback_to !== null) {
    const flags = [`--alias ${aliasFlag(place)}`, '--reason "…"'];
    out(commandLines(`Way back: ${program()} rollback`, flags));
  }
}

/** One alias in a list. */
export function printAlias(place: AliasPlace, entry: AliasEntry): void {
  print(`${place.name}: ${policyText(place, entry)}, entry ${entry.number}`);
}

/** The whole history, newest last. */
export function printHistory(place: AliasPlace, entries: readonly AliasEntry[]): void {
  for (const entry of entries) {
    const { number, action, volatile, verdict, reason, forced } = entry;
    const what = action === "rollback" ? `rollback to entry ${entry.restores}` : action;
    print(`${number}. ${what}  ${visible(volatile.at.slice(0, 16)).replace("T", " ")}`);
    line("policy", policyText(place, entry));
    if (verdict) {
      printVerdict(verdict);
      line("runs", runsText(verdict));
    }
    if (reason !== null) line("reason", visible(reason));
    if (forced !== null) out(warning(`forced although ${visible(forced)}`));
  }
  const current = entries.at(-1);
  if (current) printStated(current);
}

type Verdict = NonNullable<AliasEntry["verdict"]>;

/** With the figures that decided: a promotion may rest on a wide margin. */
function printVerdict(verdict: Verdict): void {
  const { decision, claim, margin, min_delta, alpha, allowed = [], axes = [] } = verdict;
  const claimed = claim === null ? "" : ` for a claim of ${claim}`;
  const runs = `${visible(verdict.candidate)} against ${visible(verdict.baseline)}`;
  line("verdict", `${visible(decision)}${claimed}, ${runs}`);
  const least = min_delta > 0 ? [`least improvement ${min_delta}`] : [];
  const conditions = [...(margin === undefined ? least : [`margin ${margin}`]), `α ${alpha}`];
  line("change", `${differenceOf(verdict)}, ${conditions.join(", ")}`);
  for (const { name, delta, margin, state } of axes)
    line(
      "axis",
      `${visible(name)} ${signed(delta ?? 0)}, margin ${margin}: ${SLICE_STATES[state]}`,
    );
  if (allowed.length > 0) line("allowed", allowed.map(visible).join(", "));
}

/** The entry repeats figures of the runs; nothing here computes them again. */
function runsText({ baseline, candidate }: Verdict): string {
  const gone = [baseline, candidate].filter((run) => !existsSync(path.join(run, MANIFEST)));
  return gone.length === 0
    ? "there; these figures were not checked again, gate does"
    : `not there: ${gone.map(visible).join(", ")}; these figures cannot be checked`;
}

function printStated({ stated: { used_by, traffic } }: AliasEntry): void {
  if (used_by.length > 0) line("used by", `${used_by.map(visible).join(", ")} (stated)`);
  if (traffic !== null) line("traffic", `${+(100 * traffic).toFixed(2)} % (stated, not measured)`);
}

function policyText(place: AliasPlace, entry: AliasEntry): string {
  return `${visible(sourceOf(place, entry))} (${visible(describePolicy(entry.policy))})`;
}

function line(label: string, text: string): void {
  out(hanging(`  ${label.padEnd(8)} `, text));
}
