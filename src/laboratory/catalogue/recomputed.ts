/**
 * Forgeries that fit together so well that two folders cannot betray them. Making the run again does:
 * scoring, sampling and training are deterministic.
 */

import { rm } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "../../core/fingerprint.ts";
import type { JsonObject } from "../../core/json.ts";
import { loadCheckpoint, saveCheckpoint } from "../../policy/checkpoint.ts";
import { JOURNAL, LEDGER, MANIFEST, METRICS, SUMMARY } from "../../runs/artifacts.ts";
import { manifestFingerprint, provenancePath } from "../../runs/manifest.ts";
import { artifactJson } from "../../runs/run-folder.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import type { TrainManifest } from "../../runs/train-schemas.ts";
import { score } from "../../scorers/math-final-line.ts";
import { editText, forge, jsonl, readJson, readRows, writeText } from "../files.ts";
import type { Outcome } from "../finding.ts";
import type { Laboratory } from "../laboratory.ts";
import type { Caught, Sabotage } from "../sabotage.ts";
import {
  againstUntrained,
  answersOf,
  pi0Answers,
  SMALL_SAMPLING,
  scored,
  smallPi0Run,
  testSet,
} from "../small-runs.ts";
import { startOf, type Trained, trained } from "../training.ts";

const byVerify = (part: string): Caught => ({ check: "verify", code: `${part}_differs` });

/** First the gate by itself, then the candidate made again. */
async function gatedThenVerified(lab: Laboratory, run: string): Promise<Outcome> {
  const gated = await againstUntrained(lab, run);
  const { findings } = await lab.verify(run);
  return { verdict: gated.verdict, findings: [...gated.findings, ...findings] };
}

interface AnswerRow {
  readonly id: string;
  readonly completion: string;
  readonly [field: string]: unknown;
}

/** Other completions under the provenance of π₀'s rollout, its hash made to fit. */
async function underProvenance(
  lab: Laboratory,
  name: string,
  change: (rows: AnswerRow[]) => object[] | Promise<object[]>,
): Promise<string> {
  const honest = await pi0Answers(lab);
  const text = jsonl(await change(await readRows<AnswerRow>(honest)));
  const answers = await writeText(`${lab.fresh(name)}.jsonl`, text);
  const provenance = await readJson(provenancePath(honest));
  await writeText(
    provenancePath(answers),
    JSON.stringify({ ...provenance, completions_sha256: sha256(text) }),
  );
  return scored(lab, answers, name);
}

async function rightAnswers(lab: Laboratory, rows: readonly AnswerRow[]): Promise<AnswerRow[]> {
  const answers = new Map(testSet(lab).map(({ id, expected_answer: a }) => [id, String(a)]));
  return rows.map((row, i) =>
    i % 2 === 0 ? { ...row, completion: `Final: ${answers.get(row.id)}` } : row,
  );
}

const HONEST_ROLLOUT = "The rollout of the checkpoint that the provenance names.";

export const RECOMPUTED: readonly Sabotage[] = [
  {
    ...{ name: "picks-of-best-of-4", family: "selection" },
    trick:
      "Keeps the best of four samples for each example and gives them the provenance of a plain rollout.",
    honest: HONEST_ROLLOUT,
    caught: byVerify("sample"),
    async play(lab, cheat) {
      if (!cheat) return gatedThenVerified(lab, await smallPi0Run(lab));
      const run = await underProvenance(lab, "picks", async (rows) => {
        const dataset = await lab.dataset(testSet(lab));
        const samples = await lab.rollout({
          ...{ policy: await lab.pi0(), dataset, n: 4, sampling: SMALL_SAMPLING },
        });
        const best = await lab.select({ dataset, samples, n: 4 });
        const picks = await readRows<AnswerRow>(path.join(best, "results.jsonl"));
        return rows.map((row, i) => ({ ...row, completion: picks[i]?.completion ?? "" }));
      });
      return gatedThenVerified(lab, run);
    },
  },
  {
    ...{ name: "forged-provenance", family: "forgeries" },
    trick: "Writes completions by hand and gives them the provenance of a checkpoint.",
    honest: HONEST_ROLLOUT,
    caught: byVerify("sample"),
    async play(lab, cheat) {
      if (!cheat) return gatedThenVerified(lab, await smallPi0Run(lab));
      const run = await underProvenance(lab, "by-hand", (rows) => rightAnswers(lab, rows));
      return gatedThenVerified(lab, run);
    },
  },
  {
    ...{ name: "everything-rehashed", family: "forgeries" },
    trick:
      "Writes right answers over wrong ones in a finished run and computes every count and hash again.",
    honest: "A copy of the run that nobody has edited.",
    caught: byVerify("answers"),
    async play(lab, cheat) {
      const run = await lab.copy(await smallPi0Run(lab), "everything-rehashed");
      if (cheat) {
        await forge(run, {
          row: (row) => {
            const completion = `Final: ${String(row.expected_answer)}`;
            const { reward, code, details } = score(row, completion);
            return { ...row, completion, reward, outcome_code: code, details } as ResultRow;
          },
        });
      }
      return gatedThenVerified(lab, run);
    },
  },
  {
    ...{ name: "tries-rewritten", family: "seeds" },
    trick:
      "Tries other seeds on all rows but one, in another order, and writes one try into the provenance.",
    honest: "The number of tries as rollout counted it.",
    caught: byVerify("tries"),
    async play(lab, cheat) {
      const policy = await lab.copy(await lab.pi0(), "tried");
      await rm(path.join(policy, LEDGER), { force: true });
      const fewer = await lab.dataset(testSet(lab).slice(1).reverse());
      for (const seed of [1, 2])
        await lab.rollout({ policy, dataset: fewer, sampling: { ...SMALL_SAMPLING, seed } });
      const answers = await answersOf(lab, policy);
      if (cheat) {
        await editText(provenancePath(answers), (text) =>
          text.replace(/"seeds_tried": ?\d+/, '"seeds_tried": 1'),
        );
      }
      const run = await scored(lab, answers, "tries");
      const { verdict } = await againstUntrained(lab, run);
      return { verdict, findings: (await lab.verify(run, { only: ["tries"] })).findings };
    },
  },
  {
    ...{ name: "overlap-rewritten", family: "leaks" },
    trick: "Trains on the test set and writes into the finished run that no prompt of it was seen.",
    honest: "A policy that has not seen the test set.",
    caught: byVerify("exposure"),
    async play(lab, cheat) {
      if (!cheat) return gatedThenVerified(lab, await smallPi0Run(lab));
      const { checkpoint } = await trained(lab, {
        ...{ name: "overlap-rewritten", algorithm: "sft", init: await lab.pi0() },
        dataset: await lab.dataset(
          testSet(lab).map(({ id, prompt, expected_answer: a }) => ({
            ...{ id, prompt, completion: `Final: ${String(a)}` },
          })),
        ),
        settings: { steps: 1, batch: 8, rate: { peak: 1e-6 } },
      });
      const run = await scored(lab, await answersOf(lab, checkpoint), "overlap-rewritten");
      await forge(run, {
        manifest: ({ exposure, ...manifest }) => ({
          ...manifest,
          ...(exposure && {
            exposure: { ...exposure, learned: { ...exposure.learned, rows: 0, first_ids: [] } },
          }),
        }),
      });
      return gatedThenVerified(lab, run);
    },
  },
  {
    ...{ name: "journal-edited", family: "sampling" },
    trick: "Writes a right answer into the journal of an interrupted rollout and resumes it.",
    honest: "An interrupted rollout is resumed.",
    caught: byVerify("sample"),
    async play(lab, cheat) {
      const policy = await lab.pi0();
      const dataset = await lab.dataset(testSet(lab));
      const rollout = { policy, dataset, sampling: SMALL_SAMPLING };
      const outdir = await lab.rollout({ ...rollout, stopAfter: 8 });
      if (cheat) {
        await editText(path.join(outdir, JOURNAL), (text) =>
          text.replace(/"completion":"[^"]*"/, '"completion":"Final: 1"'),
        );
      }
      const answers = await lab.rollout({ ...rollout, outdir, resume: true });
      return gatedThenVerified(lab, await scored(lab, answers, "journal-edited"));
    },
  },
  {
    ...{ name: "own-scorer-rehashed", family: "forgeries" },
    trick:
      "Flips rewards of a scorer of one's own, which the gate does not run, and computes all hashes again.",
    honest: "A copy of the run that nobody has edited.",
    caught: byVerify("score"),
    async play(lab, cheat) {
      const answers = await pi0Answers(lab);
      const dataset = await lab.dataset(testSet(lab));
      const scorer = await writeText(path.join(lab.dir, "own-scorer.ts"), OWN_SCORER);
      const baseline = await lab.once("own baseline", async () => {
        const rows = await readRows<AnswerRow>(answers);
        const file = await writeText(
          `${lab.fresh("own-baseline")}.jsonl`,
          jsonl(rows.map(({ id }) => ({ id, completion: "I do not know." }))),
        );
        const {
          policy: _,
          completions_sha256: __,
          ...rest
        } = await readJson(provenancePath(answers));
        const named = { ...rest, policy: { kind: "stated", name: "earlier" } };
        await writeText(
          provenancePath(file),
          JSON.stringify({ ...named, prompts_by_row: undefined }),
        );
        return lab.evaluated(dataset, file, "own-baseline", scorer);
      });
      const honest = await lab.once("own run", () =>
        lab.evaluated(dataset, answers, "own", scorer),
      );
      const run = await lab.copy(honest, "own-scorer-rehashed");
      if (cheat) {
        await forge(run, {
          row: (row) => (row.reward === 0 ? { ...row, reward: 1, outcome_code: "right" } : row),
        });
      }
      const gated = await lab.gate(baseline, run);
      const { findings } = await lab.verify(run, { only: ["score"] });
      return { verdict: gated.verdict, findings: [...gated.findings, ...findings] };
    },
  },
  training(
    "normalised-over-wrong-axis",
    "training",
    "A changed program compares each answer with answers to other prompts, and its manifest looks like any other.",
    byVerify("train"),
    { sabotage: "wrong_axis" },
    ({ dir }) => hideSabotage(dir),
  ),
  training(
    "training-curve-edited",
    "forgeries",
    "Raises the rewards in the metrics of a finished training and computes their hash again.",
    byVerify("train"),
    {},
    async ({ dir }) => {
      const file = path.join(dir, METRICS);
      const change = (text: string) =>
        text.replaceAll(/"reward\/mean":[0-9.]+/g, '"reward/mean":0.99');
      await editText(file, change);
      const hash = sha256(jsonl(await readRows(file)));
      await editJson(path.join(dir, SUMMARY), (summary) => ({ ...summary, metrics_sha256: hash }));
    },
  ),
  training(
    "checkpoint-swapped",
    "forgeries",
    "Puts better weights into the checkpoint folder of a finished training.",
    byVerify("files"),
    {},
    async ({ checkpoint }) => {
      const {
        dir: _,
        placed: __,
        fingerprint: ___,
        chat: ____,
        ...content
      } = await loadCheckpoint(checkpoint);
      const parameters = content.parameters.map((x) => 1.01 * x);
      await saveCheckpoint(checkpoint, { ...content, parameters });
    },
  ),
];

const OWN_SCORER = `export const name = "own", version = "1", spec = "the whole text is Final: and the answer";
export function score(example, completion) {
  const good = completion.trim() === "Final: " + example.expected_answer;
  return { reward: good ? 1 : 0, code: good ? "right" : "wrong", details: {} };
}
`;

/** A short training, a trick on its folder, and the training made again. */
function training(
  name: string,
  family: Sabotage["family"],
  trick: string,
  caught: Caught,
  injected: JsonObject,
  forgeIt: (made: Trained) => Promise<void>,
): Sabotage {
  return {
    ...{ name, family, trick, caught },
    honest: "A training that nobody has edited.",
    async play(lab, cheat) {
      const verified = async (made: Trained) => {
        const { init } = await startOf(lab);
        const { verdict, findings } = await lab.verify(made.dir, { train: true, init });
        return { verdict, findings };
      };
      const settings = { steps: 3 };
      if (!cheat) {
        return lab.once("verified training", async () =>
          verified(await trained(lab, { name: "verified", settings })),
        );
      }
      const made = await trained(lab, { name, settings: { ...settings, ...injected } });
      await forgeIt(made);
      return verified(made);
    },
  };
}

/** The manifest says that nothing was injected, and its hash fits. */
async function hideSabotage(dir: string): Promise<void> {
  const manifest = await readJson<TrainManifest>(path.join(dir, MANIFEST));
  const innocent = { ...manifest, settings: { ...manifest.settings, sabotage: null } };
  await writeText(path.join(dir, MANIFEST), artifactJson(innocent));
  await editJson(path.join(dir, SUMMARY), (summary) => ({
    ...summary,
    manifest_sha256: manifestFingerprint(innocent),
  }));
}

async function editJson(file: string, change: (value: JsonObject) => JsonObject): Promise<void> {
  await writeText(file, artifactJson(change(await readJson(file))));
}
