/** Phase 1: preference pairs, a DPO run, a job on Azure Foundry, and a report that can be repeated. */

import path from "node:path";
import { JsonlFile, LockedRoomError } from "../../index.ts";
import { type Criterion, met, missing, type Place } from "./criterion.ts";
import { filesBelow, textOf } from "./files.ts";
import { recordsOf, soundTraining, summaryOf } from "./learning.ts";

const FEWEST_PAIRS = 10;
const PAIR_FIELDS = ["input", "preferred_output", "non_preferred_output"];

const pairs: Criterion = {
  id: "preference_data_exported",
  title: "Preference pairs exported in the form that Azure takes",
  needs: ["azure"],
  async check({ dir }) {
    const files = (await filesBelow(dir, "data")).filter((file) => file.endsWith(".jsonl"));
    for (const file of files) {
      const rows = await countPairs(path.join(dir, file));
      if (rows >= FEWEST_PAIRS) return met({ path: file, figure: `${rows} preference pairs` });
    }
    return missing(
      `a JSONL file below data/ with ${FEWEST_PAIRS} rows or more, each with ${PAIR_FIELDS.join(", ")}`,
      "no such file",
      "Export your pairs; ./lockedroom azure --help says how.",
    );
  },
};

/** 0 when any row is something else, or the file is no JSONL. */
async function countPairs(file: string): Promise<number> {
  let count = 0;
  try {
    for await (const batch of new JsonlFile(file, (fields) => fields).batches()) {
      if (!batch.every((row) => PAIR_FIELDS.every((name) => row[name] != null))) return 0;
      count += batch.length;
    }
  } catch (error) {
    if (error instanceof LockedRoomError) return 0;
    throw error;
  }
  return count;
}

const dpo: Criterion = {
  id: "dpo_run",
  title: "A finished DPO run",
  needs: ["train"],
  async check({ shelf }) {
    const found = await soundTraining(shelf, "dpo");
    if (found) {
      const rate = found.run.summary.metrics.pass_rate;
      return met({ path: summaryOf(found), figure: `pass rate ${rate?.toFixed(4)}` });
    }
    return missing(
      'a finished, whole run of train whose learning.algorithm is "dpo"',
      "no such run in runs/",
      "Train one; ./lockedroom train --help says how.",
    );
  },
};

const job: Criterion = {
  id: "azure_job",
  title: "A DPO job that succeeded on Azure Foundry",
  needs: ["azure"],
  async check(place) {
    const jobs = recordsOf(place, "lockedroom.azure_job");
    const done = jobs.find(
      ({ record }) => record.method === "dpo" && record.status === "succeeded",
    );
    if (done) return met({ path: done.path, figure: `job ${String(done.record.id)} succeeded` });
    return missing(
      'the record of a job in runs/ with method "dpo" and status "succeeded"',
      jobs.length === 0 ? "no record of a job" : `${jobs.length} records, none succeeded with DPO`,
      "Start the job, or fetch its state; ./lockedroom azure --help says how.",
    );
  },
};

const report: Criterion = {
  id: "evaluation_report",
  title: "An evaluation report of the DPO run against its baseline",
  needs: ["train", "report"],
  async check(place) {
    const { dir, shelf } = place;
    for (const known of shelf.reports) {
      const answer = await shelf.compared(known);
      if (typeof answer === "string" || !known.report.comparable) continue;
      const { learning, command } = answer.candidate.run.manifest;
      if (command !== "train" || learning?.algorithm !== "dpo") continue;
      const page = await pageNaming(place, answer.candidate.path);
      if (page === undefined) continue;
      return met(
        { path: known.path, figure: known.report.decision },
        { path: page, figure: `speaks of ${answer.candidate.path}` },
      );
    }
    const pages = (await filesBelow(dir, "reports")).length;
    return missing(
      "a saved gate report with the DPO run as candidate, and a page in reports/ that names the run",
      `${shelf.reports.length} gate reports, ${pages} files in reports/`,
      "Save the gate's verdict, then make the page; ./lockedroom report --help says how.",
    );
  },
};

async function pageNaming({ dir }: Place, run: string): Promise<string | undefined> {
  const pages = (await filesBelow(dir, "reports")).filter((file) => /\.(md|html)$/.test(file));
  return pages.find((file) => textOf(dir, file)?.includes(run));
}

export const PHASE_1: readonly Criterion[] = [pairs, dpo, job, report];
