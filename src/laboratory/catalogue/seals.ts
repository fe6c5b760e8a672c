/** Runs that must be signed, and are not, or not by the right key. */

import path from "node:path";
import { sealReasons } from "../../verify/gate-checks.ts";
import { makeKeys, sealRun } from "../../verify/seal.ts";
import { forge } from "../files.ts";
import type { Laboratory } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { byGate } from "./against-baseline.ts";

const keys = (lab: Laboratory, name: string) =>
  lab.once(`keys ${name}`, () => makeKeys(path.join(lab.dir, name)));

/** `trick` is played on the candidate; the baseline is sealed with the required key. */
function seal(
  name: string,
  trick: string,
  code: string,
  play: (run: string, lab: Laboratory) => Promise<unknown>,
): Sabotage {
  return {
    ...{ name, family: "forgeries", trick },
    honest: "Both runs are sealed with the required key and left as they are.",
    caught: byGate(code),
    async play(lab, cheat) {
      const { privateKey, publicKey } = await keys(lab, "ci");
      const baseline = await lab.once("sealed baseline", async () => {
        const copy = await lab.copy(await lab.baseline(), "sealed-baseline");
        await sealRun(copy, privateKey);
        return copy;
      });
      const run = await lab.copy(await lab.evaluate("later"), name);
      await (cheat ? play(run, lab) : sealRun(run, privateKey));
      return lab.gate(baseline, run, {
        further: async (before, after) => ({
          reasons: await sealReasons(before, after, publicKey),
        }),
      });
    },
  };
}

export const SEALS: readonly Sabotage[] = [
  seal(
    "run-without-seal",
    "Hands in a run that was made at home where only runs of the CI count.",
    "seal_missing",
    async () => {},
  ),
  seal(
    "seal-of-another-key",
    "Seals a run that was made at home with a key of one's own.",
    "seal_by_another_key",
    async (run, lab) => sealRun(run, (await keys(lab, "home")).privateKey),
  ),
  seal(
    "edited-after-seal",
    "Edits a sealed run, computes its hashes again and keeps the seal.",
    "seal_invalid",
    async (run, lab) => {
      await sealRun(run, (await keys(lab, "ci")).privateKey);
      await forge(run, { manifest: (manifest) => ({ ...manifest, seeds_tried: 1 }) });
    },
  ),
];
