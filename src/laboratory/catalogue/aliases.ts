/** Aliases that are made to name a policy which no verdict is about. */

import { rm } from "node:fs/promises";
import path from "node:path";
import { fingerprint } from "../../core/fingerprint.ts";
import { gate } from "../../gate/gate.ts";
import { loadCheckpoint } from "../../policy/checkpoint.ts";
import { openEmbeddedPolicy } from "../../policy/embedded.ts";
import type { AliasEntry } from "../../runs/alias-entry.ts";
import { ALIAS_PREFIX, type AliasPlace, aliasPlace } from "../../runs/alias-history.ts";
import type { LocatedPolicy } from "../../runs/aliased-policy.ts";
import { artifactJson } from "../../runs/run-folder.ts";
import { promote } from "../../verify/promote.ts";
import { copyFolder, editText, readJson, writeText } from "../files.ts";
import type { Outcome } from "../finding.ts";
import type { Laboratory } from "../laboratory.ts";
import type { Caught, Sabotage, Uncaught } from "../sabotage.ts";
import { smallPi0Run, untrained, untrainedRun } from "../small-runs.ts";

const HONEST = "A verdict of the gate about this policy, and a history that nobody has edited.";
const refused = (says: RegExp): Caught => ({ check: "promote", code: "exit 65", says });

async function located(source: string): Promise<LocatedPolicy> {
  return {
    source,
    identity: { kind: "checkpoint", fingerprint: (await loadCheckpoint(source)).fingerprint },
  };
}

/** A new alias that names the untrained policy. */
async function aliasOf(lab: Laboratory): Promise<AliasPlace> {
  const place = aliasPlace(path.join(lab.fresh("aliases"), "production"));
  const policy = await located(await untrained(lab));
  await promote({ place, policy, force: true, reason: "the first policy" });
  return place;
}

/** The verdict on two runs, as `gate --report` writes it. */
async function verdictOn(lab: Laboratory, baseline: string, candidate: string): Promise<string> {
  const report = await gate({ baseline, candidate, claim: "policy" });
  return writeText(`${lab.fresh("verdict")}.json`, JSON.stringify(report));
}

function promoted(
  lab: Laboratory,
  place: AliasPlace,
  policy: LocatedPolicy,
  verdict: string,
): Promise<void> {
  return lab.refusing("promote", async () => {
    await promote({ place, policy, verdict });
  });
}

const DONE: Outcome = { verdict: "promoted", findings: [] };

/** π₀ in place of the untrained policy, by an honest verdict. */
async function honestly(lab: Laboratory): Promise<AliasPlace> {
  const place = await aliasOf(lab);
  const verdict = await verdictOn(lab, await untrainedRun(lab), await smallPi0Run(lab));
  await promoted(lab, place, await located(await lab.pi0()), verdict);
  return place;
}

/** Whoever samples by the alias opens its policy. */
async function used(lab: Laboratory, place: AliasPlace): Promise<Outcome> {
  return lab.refusing("promote", async () => {
    const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 4, stop: [], seed: 0 };
    const policy = await openEmbeddedPolicy(`${ALIAS_PREFIX}${place.dir}`, { sampling });
    await policy.close();
    return DONE;
  });
}

/** The trick is played on the verdict that is handed in. */
function byVerdict(
  about: Pick<Sabotage, "name" | "trick"> & { readonly caught: Caught },
  cheat: (lab: Laboratory, place: AliasPlace) => Promise<void>,
): Sabotage {
  return {
    ...{ ...about, family: "aliases", honest: HONEST },
    async play(lab, isCheat) {
      if (isCheat) await cheat(lab, await aliasOf(lab));
      else await honestly(lab);
      return DONE;
    },
  };
}

/** The trick is played on the history, or on what it names, after an honest promotion. */
function afterwards(
  about: Pick<Sabotage, "name" | "trick"> & { readonly caught: Caught | Uncaught },
  cheat: (place: AliasPlace, lab: Laboratory) => Promise<void>,
): Sabotage {
  return {
    ...{ ...about, family: "aliases", honest: HONEST },
    async play(lab, isCheat) {
      const place = await honestly(lab);
      if (isCheat) await cheat(place, lab);
      return used(lab, place);
    },
  };
}

const entry = ({ dir }: AliasPlace, number: number) =>
  path.join(dir, `${String(number).padStart(4, "0")}.json`);

export const ALIASES: readonly Sabotage[] = [
  byVerdict(
    {
      name: "verdict-rewritten",
      trick: "Changes REJECT to PROMOTE in the file of a verdict and promotes with it.",
      caught: refused(/it decides|is not what the gate finds/),
    },
    async (lab, place) => {
      const verdict = await verdictOn(lab, await smallPi0Run(lab), await untrainedRun(lab));
      const report = await readJson(verdict);
      await writeText(verdict, JSON.stringify({ ...report, decision: "PROMOTE", exit_code: 0 }));
      await promoted(lab, place, await located(await untrained(lab)), verdict);
    },
  ),
  byVerdict(
    {
      name: "verdict-of-another-policy",
      trick: "Promotes a policy that nobody has measured with the verdict on another one.",
      caught: refused(/is not about/),
    },
    async (lab, place) => {
      const verdict = await verdictOn(lab, await untrainedRun(lab), await smallPi0Run(lab));
      await promoted(lab, place, await located(await otherPolicy(lab)), verdict);
    },
  ),
  afterwards(
    {
      name: "alias-entry-edited",
      trick: "Writes another folder into the last entry of an alias.",
      caught: refused(/hash/),
    },
    (place) =>
      editText(entry(place, 2), (text) =>
        text.replace(/"source": "[^"]*"/, '"source": "../../other"'),
      ),
  ),
  afterwards(
    {
      name: "alias-entry-removed",
      trick: "Removes the first entry of an alias, so that a forced promotion does not show.",
      caught: refused(/missing/),
    },
    (place) => rm(entry(place, 1)),
  ),
  afterwards(
    {
      name: "promoted-checkpoint-exchanged",
      trick: "Puts other weights into the folder that the alias names.",
      caught: refused(/has changed since it was promoted/),
    },
    async (place, lab) => {
      // The folder is used by others: a copy takes its place in a history with hashes that fit.
      const copy = await copyFolder(await otherPolicy(lab), lab.fresh("exchanged"));
      await rewritten(place, (last) => ({ ...last, source: path.relative(place.dir, copy) }));
    },
  ),
  afterwards(
    {
      name: "alias-history-rehashed",
      trick: "Writes another reason into the last entry and computes its hash again.",
      caught: {
        check: "nothing",
        because:
          "whoever writes the last entry can write its hash. The history belongs into version control, where its commits show who changed it.",
      },
    },
    (place) => rewritten(place, (last) => ({ ...last, reason: "approved by everybody" })),
  ),
];

/** The last entry changed, with a hash that fits. */
async function rewritten(
  place: AliasPlace,
  change: (last: AliasEntry) => AliasEntry,
): Promise<void> {
  const { sha256: _, ...content } = change(await readJson<AliasEntry>(entry(place, 2)));
  await writeText(entry(place, 2), artifactJson({ ...content, sha256: fingerprint(content) }));
}

/** A policy that nobody has measured. */
const otherPolicy = (lab: Laboratory): Promise<string> => untrained(lab, 1);
