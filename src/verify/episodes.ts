/** The parts of a run of episodes: its tasks, its trajectories, their replay, and playing them again. */

import path from "node:path";
import type { PlayableEnvironment } from "../core/environment.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import { actionsOf } from "../core/replay.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { untrueRows } from "../gate/replay-rows.ts";
import { addAxes, type OpenAxis } from "../loops/axes.ts";
import { gather } from "../loops/gather.ts";
import { ExampleFingerprints } from "../loops/scoring-run.ts";
import { selectTrajectories } from "../loops/select-trajectories.ts";
import { Tally } from "../loops/tally.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import { openRun, type Run } from "../runs/reader.ts";
import { RowCursor } from "../runs/rows.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { withTemporaryFolder } from "../runs/temporary-folder.ts";
import { readTrajectories } from "../runs/trajectory-schema.ts";
import type { PartName, VerificationPart } from "../runs/verification.ts";
import { type Draw, drawnRows } from "./draw.ts";
import { findFile, reached } from "./find-input.ts";
import { Comparison, impossible, type OnProgress, skipped } from "./part.ts";
import {
  type EnvironmentPlaces,
  openRecordedEnvironment,
  recordedTasks,
} from "./recorded-environment.ts";
import { comparePolicy, openRecordedPolicy, type PolicyOptions } from "./recorded-policy.ts";
import { openRecordedAxes, type ScorerPlaces } from "./recorded-scorer.ts";
import { recordedRule } from "./score.ts";

export interface EpisodeOptions extends PolicyOptions, ScorerPlaces {
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
  const played = (part: PartName, work: (opened: Opened) => Promise<VerificationPart>) => () =>
    withEnvironment(part, total, run.manifest, options, work);
  return {
    data: played("data", (opened) => verifyTasks(run, opened)),
    answers: () => verifyTrajectories(run, options),
    score: played("score", (opened) => verifyReplay(run, opened, options)),
    sample: played("sample", (opened) => verifyPlayed(run, opened, options)),
  };
}

/** The environment with the tasks of the run. */
export interface Opened {
  readonly environment: PlayableEnvironment;
  readonly tasks: ReadonlyMap<string, Example>;
}

/** A part that needs the environment; impossible, with the reason, where it cannot be reached. */
export async function withEnvironment(
  part: PartName,
  total: number,
  { environment, split }: { readonly environment?: unknown; readonly split?: string | undefined },
  places: EnvironmentPlaces,
  work: (opened: Opened) => Promise<VerificationPart>,
): Promise<VerificationPart> {
  const opened = await reached(async () => {
    const found = await openRecordedEnvironment(environment as JsonObject, places);
    return { environment: found, tasks: await recordedTasks(found, split) };
  });
  if ("why" in opened) return impossible(part, total, opened.why);
  try {
    const done = await reached(() => work(opened.value));
    return "why" in done ? impossible(part, total, done.why) : done.value;
  } finally {
    await opened.value.environment.close();
  }
}

/** Ids, prompts and expected answers of the rows against the tasks of the environment. */
async function verifyTasks(run: Run, { tasks }: Opened): Promise<VerificationPart> {
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
  { environment, tasks }: Opened,
  options: EpisodeOptions,
): Promise<VerificationPart> {
  const { manifest, summary } = run;
  const axes = await openRecordedAxes(manifest.axes, options, undefined);
  try {
    if (manifest.loop !== "A") return await verifySelection(run, environment, axes, options);
    const comparison = new Comparison();
    const tally = new Tally();
    for await (const rows of run.results().batches()) {
      await compareRows(comparison, rows, { environment, tasks }, axes);
      for (const row of rows) tally.add(row);
      options.onProgress?.("Replaying", comparison.repeated, manifest.examples.count);
    }
    if (comparison.differences === 0) {
      for (const [name, value] of Object.entries(tally.metrics))
        if (canonicalJson(value ?? null) !== canonicalJson(summary.metrics[name] ?? null))
          comparison.differs("summary.json", `metrics.${name}`, value, summary.metrics[name]);
    }
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
  { environment, tasks }: Opened,
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

interface Recorded {
  readonly id: string;
  /** By sample, what is compared. */
  readonly episodes: ReadonlyMap<number, JsonObject>;
}

/** The policy plays the tasks again, at the addresses of the run. */
async function verifyPlayed(
  run: Run,
  opened: Opened,
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
  let open: { id: string; episodes: Map<number, JsonObject> } | undefined;
  for await (const batch of run.results().batches()) {
    for (const row of batch) {
      if (open?.id !== row.id) {
        if (open) yield open;
        open = { id: row.id, episodes: new Map() };
      }
      for (const [sample, one] of (row.samples ?? [row]).entries()) {
        if (one.completion === null) continue;
        const at = row.samples ? sample : (row.episode?.sample ?? 0);
        open.episodes.set(at, { completion: one.completion, code: one.outcome_code });
      }
    }
  }
  if (open) yield open;
}

interface Again extends EpisodeOptions {
  readonly comparison: Comparison;
  readonly total: number;
  /** A hash of what is compared, so that no draw fits every run. */
  readonly content: string;
  /** What is compared of an episode. */
  shown(trajectory: Trajectory): JsonObject;
}

/** Tasks that are played together. */
const AT_ONCE = 32;

export async function playAgain(
  policy: EmbeddedPolicy,
  { environment, tasks }: Opened,
  recorded: AsyncIterable<Recorded>,
  { draw, total, content, comparison, onProgress, shown }: Again,
): Promise<VerificationPart> {
  const drawn = draw && drawnRows(draw, total, content);
  const wanted = drawn?.size ?? total;
  let place = 0;
  let waiting: Recorded[] = [];
  const settle = async () => {
    const again = await playedAgain(policy, environment, tasks, waiting);
    for (const { id, episodes } of waiting) {
      for (const [sample, found] of episodes) {
        const one = again.get(`${sample} ${id}`);
        comparison.compare(id, one ? shown(one) : {}, found);
      }
    }
    waiting = [];
    onProgress?.("Playing again", Math.min(place, wanted), wanted);
  };
  for await (const one of recorded) {
    if (drawn?.has(place++) === false) continue;
    waiting.push(one);
    if (waiting.length === AT_ONCE) await settle();
  }
  await settle();
  return comparison.part("sample", total, draw ? `drawn by ${draw.seed}` : "all episodes");
}

async function playedAgain(
  policy: EmbeddedPolicy,
  { environment }: PlayableEnvironment,
  tasks: ReadonlyMap<string, Example>,
  recorded: readonly Recorded[],
): Promise<Map<string, Trajectory>> {
  const again = new Map<string, Trajectory>();
  const wanted = new Map(recorded.map(({ id, episodes }) => [id, episodes]));
  const most = Math.max(0, ...recorded.map(({ episodes }) => 1 + Math.max(-1, ...episodes.keys())));
  await gather({
    ...{ actor: policy.actor(), environment, n: most, seed: policy.sampling.seed },
    tasks: recorded.flatMap(({ id }) => tasks.get(id) ?? []),
    maxFailures: Number.POSITIVE_INFINITY,
    skips: (id, sample) => !wanted.get(id)?.has(sample),
    onEpisode: (one) => void again.set(`${one.sample} ${one.id}`, one),
  });
  return again;
}
