/** The parts of a run of episodes: its tasks, its trajectories, their replay. */

import path from "node:path";
import type { PlayableEnvironment } from "../core/environment.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import { actionsOf } from "../core/replay.ts";
import { asPlayed } from "../gate/judged-rows.ts";
import { untrueRows } from "../gate/replay-rows.ts";
import { addAxes, type OpenAxis } from "../loops/axes.ts";
import { ExampleFingerprints } from "../loops/scoring-run.ts";
import { selectTrajectories } from "../loops/select-trajectories.ts";
import { Tally } from "../loops/tally.ts";
import { byTask } from "../runs/by-task.ts";
import { openRun, type Run } from "../runs/reader.ts";
import { RowCursor } from "../runs/rows.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { withTemporaryFolder } from "../runs/temporary-folder.ts";
import { readTrajectories } from "../runs/trajectory-schema.ts";
import type { PartName, VerificationPart } from "../runs/verification.ts";
import type { Draw } from "./draw.ts";
import { findFile, reached } from "./find-input.ts";
import { type JudgedOptions, verifyJudgements } from "./judged.ts";
import { Comparison, type OnProgress, skipped } from "./part.ts";
import { playAgain, type Recorded } from "./play-again.ts";
import { type OpenedEnvironment, withEnvironment } from "./recorded-environment.ts";
import { comparePolicy, openRecordedPolicy, type PolicyOptions } from "./recorded-policy.ts";
import { openRecordedAxes, type ScorerPlaces } from "./recorded-scorer.ts";
import { recordedRule } from "./score.ts";

export interface EpisodeOptions extends PolicyOptions, ScorerPlaces, JudgedOptions {
  /** The file of a selection policy that is not built in. */
  readonly selectionPolicy?: string | undefined;
  /** Absent: all tasks. */
  readonly draw?: Draw | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** Where a run of episodes is made again otherwise than a run of scored completions. */
export function episodeParts(
  run: Run,
  options: EpisodeOptions,
): Partial<Record<PartName, () => Promise<VerificationPart>>> {
  const total = run.manifest.examples.count;
  const played =
    (part: PartName, work: (opened: OpenedEnvironment) => Promise<VerificationPart>) => () =>
      withEnvironment(part, total, run.manifest, options, work);
  return {
    data: played("data", (opened) => verifyTasks(run, opened)),
    answers: () => verifyTrajectories(run, options),
    score: played("score", (opened) => verifyReplay(run, opened, options)),
    sample: played("sample", (opened) => verifyPlayed(run, opened, options)),
  };
}

/** Ids, prompts and expected answers of the rows against the tasks of the environment. */
async function verifyTasks(run: Run, { tasks }: OpenedEnvironment): Promise<VerificationPart> {
  const { examples, environment } = run.manifest;
  const comparison = new Comparison();
  const met = new ExampleFingerprints();
  for await (const batch of run.results().batches()) {
    for (const { id, prompt, expected_answer: answer, sample = 0 } of batch) {
      const task = tasks.get(id);
      const expected = task && { id, prompt: task.prompt, answer: task.expected_answer ?? null };
      comparison.compare(id, expected ?? {}, { id, prompt, answer });
      if (task && sample === 0) met.add(task);
    }
  }
  if (canonicalJson(met.identity()) !== canonicalJson(examples))
    comparison.differs("manifest.json", "examples", met.identity(), examples);
  const what = `rows against the tasks of ${environment?.name}`;
  return comparison.part("data", comparison.repeated, what);
}

/** The rows against the file of trajectories, where it is still there. */
async function verifyTrajectories(run: Run, options: EpisodeOptions): Promise<VerificationPart> {
  const input = run.manifest.inputs.find(({ role }) => role === "trajectories");
  const found = await reached(() =>
    findFile("file of trajectories", input ?? { path: null, sha256: "" }, options),
  );
  if ("why" in found) return skipped("answers", `${found.why} The rows were not compared with it.`);
  const played = await actionsIn(found.value);
  const comparison = new Comparison();
  for await (const batch of run.results().batches()) {
    for (const row of batch) {
      const { id, episode, samples } = row;
      const own = played.get(id);
      if (samples) {
        const all = [...(own?.values() ?? [])].map((actions) => actions.join("\n"));
        comparison.compare(
          id,
          { completion: all },
          { completion: samples.map((s) => s.completion) },
        );
      } else {
        const sample = episode?.sample ?? row.sample ?? 0;
        const said = episode ? actionsOf(episode.messages) : null;
        // An episode without a counterpart was not judged.
        if (run.manifest.judge && !episode) continue;
        comparison.compare(id, { completion: own?.get(sample) ?? null }, { completion: said });
      }
    }
  }
  return comparison.part("answers", comparison.repeated, `rows against ${found.value}`);
}

/** By task and sample, what the policy did. */
async function actionsIn(file: string): Promise<Map<string, Map<number, string[]>>> {
  const known = new Map<string, Map<number, string[]>>();
  for await (const batch of readTrajectories(file).batches()) {
    for (const { id, sample, messages } of batch) {
      const bySample = known.get(id) ?? new Map<number, string[]>();
      known.set(id, bySample.set(sample, actionsOf(messages)));
    }
  }
  return known;
}

/** Every episode played again in the environment, and scored again on the axes. */
async function verifyReplay(
  run: Run,
  { environment, tasks }: OpenedEnvironment,
  options: EpisodeOptions,
): Promise<VerificationPart> {
  const { manifest, summary } = run;
  const axes = await openRecordedAxes(manifest.axes, options, undefined);
  try {
    if (manifest.loop !== "A") return await verifySelection(run, environment, axes, options);
    const comparison = new Comparison();
    const tally = new Tally();
    const played = manifest.judge ? asPlayed : (row: ResultRow) => row;
    for await (const rows of run.results().batches()) {
      await compareRows(comparison, rows.map(played), { environment, tasks }, axes);
      for (const row of rows) tally.add(row);
      options.onProgress?.("Replaying", comparison.repeated, manifest.examples.count);
    }
    if (comparison.differences === 0) {
      for (const [name, value] of Object.entries(tally.metrics))
        if (canonicalJson(value ?? null) !== canonicalJson(summary.metrics[name] ?? null))
          comparison.differs("summary.json", `metrics.${name}`, value, summary.metrics[name]);
    }
    if (manifest.judge)
      return await verifyJudgements(run, { environment, tasks }, comparison, options);
    const onAxes = axes.map(({ name }) => ` and on ${name}`).join("");
    const what = `replayed in ${manifest.scorer.name} ${manifest.scorer.version}${onAxes}`;
    return comparison.part("score", comparison.repeated, what);
  } finally {
    for (const { scorer } of axes) await scorer.close();
  }
}

/** A row keeps only the chosen episode, so the selection is made again from the trajectories. */
async function verifySelection(
  { manifest, ...run }: Run,
  environment: PlayableEnvironment,
  axes: readonly OpenAxis[],
  options: EpisodeOptions,
): Promise<VerificationPart> {
  const input = manifest.inputs.find(({ role }) => role === "trajectories");
  const trajectories = await findFile(
    "file of trajectories",
    input ?? { path: null, sha256: "" },
    options,
  );
  const { selection, settings } = manifest;
  const policy = await recordedRule(selection ?? {}, options.selectionPolicy);
  return withTemporaryFolder(async (dir) => {
    const outdir = path.join(dir, "again");
    const slice = Array.isArray(settings.slice) ? settings.slice.map(String) : undefined;
    const n = Number(selection?.n);
    await selectTrajectories({ trajectories, environment, outdir, policy, n, slice, axes });
    const again = new RowCursor((await openRun(outdir)).results());
    const comparison = new Comparison();
    try {
      for await (const rows of run.results().batches())
        for (const row of rows) {
          const expected = again.buffered() ?? (await again.read());
          comparison.compare(row.id, expected ?? {}, row);
        }
    } finally {
      await again.close();
    }
    const what = `replayed in ${manifest.scorer.name} ${manifest.scorer.version}, and selected again`;
    return comparison.part("score", comparison.repeated, what);
  });
}

async function compareRows(
  comparison: Comparison,
  rows: readonly ResultRow[],
  { environment, tasks }: OpenedEnvironment,
  axes: readonly OpenAxis[],
): Promise<void> {
  const untrue = await untrueRows(
    environment,
    rows.map((row) => ({ row, task: tasks.get(row.id) })),
  );
  for (const [i, one] of untrue.entries())
    if (one) comparison.differs(rows[i]?.id as string, one.what, one.expected, one.found);
  comparison.repeated += rows.length;
  const again = rows.map((row) => ({ ...row }));
  await addAxes(
    axes,
    again,
    rows.map(({ id }) => tasks.get(id) as Example),
  );
  for (const [i, { id, axes: found }] of rows.entries())
    if (axes.length > 0 && canonicalJson(again[i]?.axes) !== canonicalJson(found ?? null))
      comparison.differs(id, "axes", again[i]?.axes, found);
}

/** The policy plays the tasks again, at the addresses of the run. */
async function verifyPlayed(
  run: Run,
  opened: OpenedEnvironment,
  options: EpisodeOptions,
): Promise<VerificationPart> {
  const { manifest, summary } = run;
  const policy = await openRecordedPolicy(manifest, options);
  try {
    const comparison = new Comparison();
    comparePolicy(comparison, manifest, policy);
    return await playAgain(policy, opened, recordedRows(run), {
      ...{ ...options, comparison, content: summary.results_sha256 },
      total: manifest.examples.count,
      shown: (one) => ({ completion: actionsOf(one.messages).join("\n"), code: one.code }),
    });
  } finally {
    await policy.close();
  }
}

async function* recordedRows(run: Run): AsyncGenerator<Recorded, void, void> {
  for await (const groups of byTask(run.results().batches()))
    for (const rows of groups)
      yield { id: rows[0]?.id as string, episodes: new Map(rows.flatMap(episodesIn)) };
}

/** By sample, what a row says: of one episode, or of all that were selected from. */
function episodesIn({ samples, episode, ...given }: ResultRow): [number, JsonObject][] {
  const row = asPlayed({ ...given, ...(episode && { episode }) });
  return (samples ?? [row]).flatMap(({ completion, outcome_code: code }, i) => {
    const sample = samples ? i : (episode?.sample ?? 0);
    return completion === null ? [] : [[sample, { completion, code }]];
  });
}
