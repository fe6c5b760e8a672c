/** Finished runs that are edited, with and without new hashes. */

import { rm } from "node:fs/promises";
import path from "node:path";
import { MANIFEST, RESULTS, SUMMARY } from "../../runs/artifacts.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { copyFolder, editText, type Forgery, forge } from "../files.ts";
import type { Laboratory } from "../laboratory.ts";
import type { Caught, Sabotage } from "../sabotage.ts";
import { byGate } from "./against-baseline.ts";

const UNTOUCHED = "A copy of the run that nobody has edited.";

/** The copy of an honest candidate is edited. */
function edited(
  about: Pick<Sabotage, "name" | "trick"> & { readonly caught: Caught },
  edit: (dir: string, lab: Laboratory) => Promise<void>,
): Sabotage {
  return {
    ...about,
    family: "forgeries",
    honest: UNTOUCHED,
    async play(lab, cheat) {
      const honest = await lab.evaluate("later");
      const run = await copyFolder(honest, lab.fresh(about.name));
      if (cheat) await edit(run, lab);
      return lab.gate(await lab.baseline(), run);
    },
  };
}

const inFile = (name: string, change: (text: string) => string) => (dir: string) =>
  editText(path.join(dir, name), change);

const forged = (forgery: Forgery) => (dir: string) => forge(dir, forgery);

const passed = (row: ResultRow): ResultRow =>
  row.reward === 0 ? { ...row, reward: 1, outcome_code: "ok" } : row;

export const FORGERIES: readonly Sabotage[] = [
  edited(
    {
      name: "reward-flipped",
      trick: "Changes one reward in results.jsonl from 0 to 1.",
      caught: byGate("run_edited"),
    },
    inFile(RESULTS, (text) => text.replace('"reward":0', '"reward":1')),
  ),
  edited(
    {
      name: "completion-replaced",
      trick: "Writes a right answer over a wrong completion in results.jsonl.",
      caught: byGate("run_edited"),
    },
    inFile(RESULTS, (text) => text.replace(/"completion":"[^"]*"/, '"completion":"Final: 1"')),
  ),
  edited(
    {
      name: "summary-edited",
      trick: "Raises the pass rate in summary.json.",
      caught: byGate("run_edited"),
    },
    inFile(SUMMARY, (text) => text.replace(/"pass_rate": [0-9.]+/, '"pass_rate": 0.99')),
  ),
  edited(
    {
      name: "manifest-edited",
      trick: "Changes in manifest.json what the run was measured on.",
      caught: byGate("run_edited"),
    },
    inFile(MANIFEST, (text) => text.replace(/"rows": \d+/, '"rows": 12345')),
  ),
  edited(
    {
      name: "sampling-rewritten",
      trick: "Changes the recorded temperature so that it equals the baseline's.",
      caught: byGate("run_edited"),
    },
    inFile(MANIFEST, (text) => text.replace(/"temperature": [0-9.]+/, '"temperature": 0.7')),
  ),
  edited(
    {
      name: "rows-repeated",
      trick: "Replaces failed rows by copies of passed ones and seals the file with a new hash.",
      caught: byGate("run_edited"),
    },
    async (dir) => {
      const best: ResultRow[] = [];
      await forge(dir, {
        row: (row) => {
          if (row.reward === 1) best.push(row);
          return row.reward === 1 ? row : (best[0] ?? row);
        },
      });
    },
  ),
  edited(
    {
      name: "rewards-rehashed",
      trick: "Flips rewards, leaves the wrong texts, and computes every count and hash again.",
      caught: byGate("rewards_differ_from_scorer"),
    },
    forged({ row: passed }),
  ),
  edited(
    {
      name: "answers-hash-stale",
      trick: "Rewrites completions and rewards and all hashes but that of the answers.",
      caught: byGate("answers_differ_from_hash"),
    },
    forged({
      staleAnswers: true,
      row: (row) =>
        row.reward === 0
          ? { ...passed(row), completion: `Final: ${String(row.expected_answer)}` }
          : row,
    }),
  ),
  edited(
    {
      name: "unfinished-run",
      trick: "Removes the summary of a bad run and hopes that the gate counts the rows itself.",
      caught: {
        check: "gate",
        code: "exit 65",
        says: /not finished|unfinished|interrupted|summary/,
      },
    },
    (dir) => rm(path.join(dir, SUMMARY)),
  ),
  edited(
    {
      name: "results-of-another-run",
      trick: "Puts the results of another run into the folder.",
      caught: byGate("run_edited"),
    },
    async (dir, lab) => {
      const other = await lab.evaluate("all-right", {
        completions: (await lab.base()).rows.map(({ expected_answer: a }) => `Final: ${String(a)}`),
      });
      await copyFolder(path.join(other, RESULTS), path.join(dir, RESULTS));
    },
  ),
];
