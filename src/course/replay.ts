/**
 * Repeats a run's command and compares what comes out. A run is evidence because anyone can make it
 * again: hashes can be written by hand, but not results that a command would not give.
 */

import { canonicalJson } from "../core/index.ts";
import { openRun, type Run } from "../runs/index.ts";
import type { Finished } from "./child.ts";
import { demand } from "./gap.ts";
import type { Room } from "./room.ts";

/** The parts of a summary that the same command must give again; pictures are left out. */
function essence({ summary }: Run) {
  const { metrics, outcomes, alarms, results_sha256, manifest_sha256, files } = summary;
  return { metrics, outcomes, alarms, results_sha256, manifest_sha256, log: files["log.jsonl"] };
}

/** Makes the run anew in the folder it is given. */
export type Repeat = (outdir: string) => Promise<Finished>;

/** Repeats a command of Locked Room, given without --outdir. */
export function command(room: Room, ...args: readonly string[]): Repeat {
  return (outdir) => room.command(...args, "--outdir", outdir);
}

/** Makes a run again and holds it against the outcome. */
export async function replay(room: Room, name: string, repeat: Repeat): Promise<Run> {
  const run = await room.run(name);
  const outdir = room.scratch();
  const { code, stderr, stopped } = await repeat(outdir);
  demand(code === 0 && stopped === undefined, {
    expected: `the command of runs/${name} to work again`,
    found: stopped ?? firstLines(stderr),
    look: `runs/${name}/manifest.json`,
  });
  const again = await openRun(outdir);
  const [was, is] = [essence(run), essence(again)] as Record<string, unknown>[];
  const other = Object.keys(was ?? {}).filter(
    (key) => canonicalJson(was?.[key] ?? null) !== canonicalJson(is?.[key] ?? null),
  );
  demand(other.length === 0, () => ({
    expected: `runs/${name} to hold what its command gives`,
    found: `other ${other.join(", ")} when the command was run again${otherVersion(run, again)}`,
    look: `runs/${name}/summary.json`,
    next: `Run the command of runs/${name} again, with --force.`,
  }));
  return run;
}

function otherVersion(run: Run, again: Run): string {
  const [was, is] = [run, again].map(({ manifest }) => manifest.volatile.lockedroom);
  return was === is ? "" : ` (it was made by lockedroom ${was}, this is ${is})`;
}

function firstLines(text: string): string {
  return text.trim().split("\n").slice(0, 2).join(" ") || "an error without a word";
}

/** Runs that were made one after the other, in this order. */
export async function demandOrder(room: Room, names: readonly string[]): Promise<void> {
  for (const [i, name] of names.entries()) {
    const before = names[i - 1];
    if (before === undefined) continue;
    const [first, second] = await Promise.all([room.run(before), room.run(name)]);
    const [a, b] = [first, second].map(({ manifest }) => manifest.volatile.started_at);
    demand(Date.parse(a ?? "") < Date.parse(b ?? ""), {
      expected: `runs/${name} to be made after runs/${before}`,
      found: a === b ? "the same moment for both, as in a copy" : `${b} and ${a}`,
      look: `runs/${name}/manifest.json, volatile.started_at`,
      next: `Run the command of runs/${name} again, with --force.`,
    });
  }
}
