/** Reads trajectories of any format into a trajectories.jsonl of ours. */

import path from "node:path";
import { dataError, usageError } from "../core/errors.ts";
import { IdSet } from "../core/id-set.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { RolloutFailure, Trajectory } from "../core/trajectory.ts";
import { FAILURES, PROVENANCE_SCHEMA, TRAJECTORIES } from "../runs/artifacts.ts";
import { contentOf } from "../runs/folder-kind.ts";
import { JsonlFile, type ReadOptions } from "../runs/jsonl.ts";
import { provenancePath } from "../runs/manifest.ts";
import { trajectorySchema } from "../runs/trajectory-schema.ts";
import { removeAll, writeWhole } from "../runs/whole-file.ts";
import { refuseExisting, writeLines } from "../runs/whole-lines.ts";
import type { Imported, TrajectoryFormat } from "./format.ts";
import { episodeName } from "./outcome.ts";
import { parsed } from "./parsed.ts";

export interface ImportOptions {
  /** Replace an earlier import. */
  readonly force?: boolean | undefined;
  readonly onBytes?: ReadOptions["onBytes"];
}

export interface ImportedFile {
  readonly format: string;
  readonly trajectories_file: string;
  readonly sha256: string;
  readonly trajectories: number;
  /** Those that another program wrote: `missing` says what they lack. */
  readonly foreign: number;
  readonly missing: string;
  readonly unscored: number;
  readonly failures: number;
}

/** Writes trajectories.jsonl, its provenance (all unknown), and failures.jsonl where there are any. */
export async function importTrajectories(
  file: string,
  format: TrajectoryFormat,
  outdir: string,
  { force, onBytes }: ImportOptions = {},
): Promise<ImportedFile> {
  const target = path.join(outdir, TRAJECTORIES);
  await refuseRun(outdir);
  for (const name of [TRAJECTORIES, FAILURES]) refuseExisting(path.join(outdir, name), force);
  const failures: RolloutFailure[] = [];
  const counts = { trajectories: 0, foreign: 0, unscored: 0 };
  const reader = new LineReader(format);
  const source = new JsonlFile(file, (fields, line) => reader.read(fields as JsonObject, line), {
    onBytes,
  });
  const { sha256 } = await writeLines(target, force, lines());
  await removeAll(outdir, [FAILURES]);
  if (failures.length > 0) {
    await writeWhole(
      path.join(outdir, FAILURES),
      failures.map((failure) => `${canonicalJson(failure)}\n`).join(""),
    );
  }
  await writeWhole(provenancePath(target), `${canonicalJson(unknownOrigin(sha256))}\n`);
  return {
    ...{ format: format.name, trajectories_file: target, sha256, ...counts },
    ...{ missing: format.missing, failures: failures.length },
  };

  async function* lines() {
    for await (const batch of source.batches()) {
      for (const found of batch) {
        failures.push(...found.failures);
        counts.foreign += found.foreign;
        for (const trajectory of found.trajectories) {
          counts.trajectories++;
          if (trajectory.reward === null) counts.unscored++;
          yield canonicalJson(trajectory);
        }
      }
    }
    if (counts.trajectories + failures.length > 0) return;
    throw dataError(`${file} holds no trajectories`, "Is it the right file?");
  }
}

/** What is imported is no run, and never takes the place of a part of one. */
async function refuseRun(dir: string): Promise<void> {
  const { kind } = await contentOf(dir);
  if (kind === undefined) return;
  throw usageError(`${dir} holds a run`, "Choose another --outdir; a run is never changed.");
}

/** Nobody can say which policy played, with which prompt and sampling: the file does not prove it. */
function unknownOrigin(sha256: string): JsonObject {
  const unknown = { policy: null, prompt: null, sampling: null };
  return { schema: PROVENANCE_SCHEMA, completions_sha256: sha256, ...unknown };
}

/** Reads records one after the other, and remembers which samples it met. */
class LineReader {
  readonly #format: TrajectoryFormat;
  readonly #met = new IdSet();
  readonly #samples = new Map<string, number>();

  constructor(format: TrajectoryFormat) {
    this.#format = format;
  }

  read(record: JsonObject, line: number): Imported {
    const found = this.#format.read(record, { line, nextSample: (id) => this.#next(id) });
    return { ...found, trajectories: found.trajectories.map((one) => this.#checked(one)) };
  }

  #next(id: string): number {
    const next = this.#samples.get(id) ?? 0;
    this.#samples.set(id, next + 1);
    return next;
  }

  #checked(trajectory: Trajectory): Trajectory {
    const whole = parsed(trajectorySchema, trajectory, "not a trajectory");
    if (!this.#met.add(episodeName(whole))) return whole;
    throw new TypeError(`sample ${whole.sample} of the task ${whole.id} is there twice`);
  }
}
