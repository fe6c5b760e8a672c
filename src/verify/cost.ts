/** What it would take to make a run again, from a short timing of its first rows. */

import { isCheckpoint } from "../core/policy.ts";
import type { Run } from "../runs/reader.ts";
import type { PartName } from "../runs/verification.ts";
import { reached } from "./find-input.ts";
import { Comparison } from "./part.ts";
import { openRecordedPolicy } from "./recorded-policy.ts";
import type { ScorerPlaces } from "./recorded-scorer.ts";
import { sampleAgain, sampledRows } from "./sample.ts";
import { verifyScores } from "./score.ts";

export interface VerificationCost {
  readonly rows: number;
  readonly completions: number;
  /** Undefined where something cannot be reached, which the verification then says. */
  readonly seconds: number | undefined;
}

export interface CostOptions extends ScorerPlaces {
  readonly sample?: number | undefined;
  /** Absent: every part. */
  readonly only?: readonly PartName[] | undefined;
}

const SCORED = 64;
/** Rows of one call of the engine, or a part of one. */
const SAMPLED = 16;

export async function costOf(
  run: Run,
  { sample, only, ...places }: CostOptions,
): Promise<VerificationCost> {
  const rows = run.manifest.examples.count;
  const samples = isCheckpoint(run.manifest.policy) && (only?.includes("sample") ?? true);
  const toSample = samples ? Math.min(sample ?? rows, rows) : 0;
  const each = run.manifest.loop === "B" ? Number(run.manifest.selection?.n ?? 1) : 1;
  // Episodes differ too much in length for the first to tell.
  if (run.manifest.environment) return { rows, completions: toSample * each, seconds: undefined };
  const scoring = await timed(async () => {
    const { repeated } = await verifyScores(run, { ...places, limit: SCORED });
    return repeated;
  });
  const sampling = toSample === 0 ? 0 : await timed(() => sampleFirst(run, places));
  const known = scoring !== undefined && sampling !== undefined;
  return {
    rows,
    completions: toSample * each,
    seconds: known ? rows * scoring + toSample * sampling : undefined,
  };
}

/** Seconds for each of what was done; undefined when nothing was. */
async function timed(work: () => Promise<number>): Promise<number | undefined> {
  const started = performance.now();
  const done = await work();
  return done === 0 ? undefined : (performance.now() - started) / 1000 / done;
}

async function sampleFirst(run: Run, places: ScorerPlaces): Promise<number> {
  const opened = await reached(() => openRecordedPolicy(run.manifest, places));
  if ("why" in opened) return 0;
  const comparison = new Comparison();
  try {
    const again = { total: SAMPLED, content: "", comparison };
    const done = await reached(() => sampleAgain(opened.value, firstRows(run), again));
    return "why" in done ? 0 : comparison.repeated;
  } finally {
    await opened.value.close();
  }
}

async function* firstRows(run: Run) {
  for await (const batch of sampledRows(run)) {
    yield batch.slice(0, SAMPLED);
    return;
  }
}
