/** A run whose summary says what its rows say: numbers are asked about, so they must be its own. */

import { canonicalJson, type Json, passes, type Run } from "../../index.ts";
import { demand } from "../gap.ts";
import type { Room } from "../room.ts";

/** Opens a run that nobody has edited, its summary included. */
export async function soundRun(room: Room, name: string): Promise<Run> {
  const run = await room.run(name);
  const { metrics, outcomes } = run.summary;
  const seen = await recount(run);
  const said: Record<string, unknown> = { ...metrics, counts: outcomes.counts };
  const other = Object.keys(seen).filter(
    (key) => key in said && canonicalJson(said[key] as Json) !== canonicalJson(seen[key] as Json),
  );
  demand(other.length === 0, {
    expected: `runs/${name} as the command wrote it`,
    found: `a summary with another ${other.join(", ")} than the rows have`,
    look: `runs/${name}/summary.json`,
    next: `Run the command of runs/${name} again, with --force.`,
  });
  return run;
}

/** The numbers of a summary that can be counted again. */
async function recount(run: Run): Promise<Record<string, Json>> {
  const counts: Record<string, number> = {};
  let [judged, passed, before, rescued, lost] = [0, 0, 0, 0, 0];
  for await (const rows of run.results().batches()) {
    for (const { reward, outcome_code: code, baseline } of rows) {
      counts[code] = (counts[code] ?? 0) + 1;
      if (reward !== null) judged++;
      const [first, now] = [passes(baseline?.reward ?? null), passes(reward)];
      if (now) passed++;
      if (first) before++;
      if (now && !first) rescued++;
      if (first && !now) lost++;
    }
  }
  const rate = (part: number) => (judged === 0 ? null : part / judged);
  const [pass_rate, pass_at_1] = [rate(passed), rate(before)];
  const delta = pass_rate === null || pass_at_1 === null ? null : pass_rate - pass_at_1;
  return { counts, n_judged: judged, n_pass: passed, pass_rate, pass_at_1, delta, rescued, lost };
}
