/** Paused trainings that are edited before they are resumed. */

import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { readSafetensors, safetensorsBytes } from "../../policy/safetensors.ts";
import { METRICS, STATE } from "../../runs/artifacts.ts";
import { editText } from "../files.ts";
import type { Laboratory } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { trained } from "../training.ts";

const COMMON = { settings: { steps: 4 }, saveEvery: 2 };

function paused(
  name: string,
  trick: string,
  says: RegExp,
  edit: (dir: string) => Promise<void>,
): Sabotage {
  const resumed = async (lab: Laboratory, before: (dir: string) => Promise<void>) => {
    const { dir } = await trained(lab, { ...COMMON, name, stopAfter: 3 });
    await before(dir);
    return trained(lab, { ...COMMON, name, outdir: dir, resume: true });
  };
  return {
    ...{ name, family: "forgeries", trick },
    honest: "The paused training is resumed as it was left.",
    caught: { check: "train", code: "exit 65", says },
    play: (lab, cheat) =>
      cheat ? resumed(lab, edit) : lab.once("resumed", () => resumed(lab, async () => {})),
  };
}

const NOT_AS_PAUSED = /not what the run was paused with/;

export const PAUSED: readonly Sabotage[] = [
  paused(
    "weights-planted",
    "Puts other weights into the saved state of a paused training and resumes it.",
    NOT_AS_PAUSED,
    async (dir) => {
      const file = path.join(dir, STATE, "engine.safetensors");
      const tensors = await readSafetensors(file);
      const changed = [...tensors].map(([name, { data, shape }]) => ({
        ...{ name, shape, data: name === "parameters" ? data.map((x) => 1.5 * x) : data },
      }));
      await writeFile(file, safetensorsBytes(changed));
    },
  ),
  paused(
    "metrics-edited-in-pause",
    "Raises the rewards in the metrics of a paused training and resumes it.",
    NOT_AS_PAUSED,
    (dir) =>
      editText(path.join(dir, METRICS), (text) =>
        text.replace(/"reward\/mean":(\d)/, (_, digit) => `"reward/mean":${9 - Number(digit)}`),
      ),
  ),
  paused(
    "metrics-removed-in-pause",
    "Removes the metrics of a paused training, with their alarms to come, and resumes it.",
    /metrics\.jsonl/,
    (dir) => rm(path.join(dir, METRICS)),
  ),
  paused(
    "state-removed-in-pause",
    "Removes the saved state, so that the training begins anew and keeps its good start.",
    /states were saved/,
    (dir) => rm(path.join(dir, STATE), { recursive: true }),
  ),
];
