/** Opens the checkpoint that a run was sampled from, with the settings that the run records. */

import path from "node:path";
import { z } from "zod";
import { fingerprint } from "../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { hasCheckpointIdentity, isCheckpoint, type SamplingSettings } from "../core/policy.ts";
import { type Checkpoint, loadCheckpoint } from "../policy/checkpoint.ts";
import { EmbeddedPolicy } from "../policy/embedded.ts";
import { PI0 } from "../policy/pi0.ts";
import { fileExists, readIfThere } from "../runs/whole-file.ts";
import { candidatesOf, lookBelow, type Places, reached, whereToLook } from "./find-input.ts";
import { type Comparison, Unreachable } from "./part.ts";

/** What a manifest says about where its completions came from. */
export interface RecordedPolicy {
  readonly policy: JsonObject | null;
  readonly prompt: JsonObject | null;
  readonly sampling: JsonObject | null;
  readonly volatile: { readonly checkpoint?: string | undefined };
}

export interface PolicyOptions extends Places {
  /** The checkpoint's folder, if it is not where it was. */
  readonly checkpoint?: string | undefined;
  /** The system prompt. */
  readonly system?: string | undefined;
  readonly threads?: number | undefined;
}

const samplingSchema: z.ZodType<SamplingSettings> = z.strictObject({
  temperature: z.number().min(0),
  top_k: z.int().min(0),
  top_p: z.number().gt(0).max(1),
  max_tokens: z.int().min(1),
  stop: z.array(z.string()),
  seed: z.int(),
});

const NOT_SAMPLED = "its completions cannot be re-sampled";

/** Throws `Unreachable` with the reason where the policy cannot be sampled again. */
export async function openRecordedPolicy(
  recorded: RecordedPolicy,
  options: PolicyOptions,
): Promise<EmbeddedPolicy> {
  const find = () => findRecordedCheckpoint(recorded, options, NOT_SAMPLED);
  if (!isCheckpoint(recorded.policy)) await find();
  const sampling = samplingSchema.safeParse(recorded.sampling);
  if (!sampling.success)
    throw new Unreachable("The run does not state the sampling settings of a checkpoint.");
  const system = systemOf(recorded.prompt, options.system);
  const checkpoint = await find();
  const { threads } = options;
  return new EmbeddedPolicy(checkpoint, { sampling: sampling.data, system, threads });
}

/** What is not a checkpoint, as a sentence names it. */
export function nameOf(policy: JsonObject): string {
  const name = policy.model ?? policy.name;
  const kind = policy.kind === "stated" && name !== undefined ? undefined : policy.kind;
  const known = [kind, name].filter((one) => one !== undefined).map(String);
  return known.length === 0 ? "The policy" : known.join(" ");
}

function fingerprintOf(policy: JsonObject | null, otherwise: string): string {
  if (policy === null) throw new Unreachable("The run does not state which policy answered.");
  if (isCheckpoint(policy)) {
    if (hasCheckpointIdentity(policy)) return String(policy.fingerprint);
    throw new Unreachable("The run does not state the fingerprint of its checkpoint.");
  }
  throw new Unreachable(`${nameOf(policy)} is not a checkpoint, so ${otherwise}.`);
}

/** The checkpoint alone, for what needs no sampling. */
export async function findRecordedCheckpoint(
  recorded: Pick<RecordedPolicy, "policy" | "volatile">,
  options: PolicyOptions,
  otherwise: string,
): Promise<Checkpoint> {
  const print = fingerprintOf(recorded.policy, otherwise);
  return findCheckpoint("checkpoint", "--checkpoint", print, {
    ...{ given: options.checkpoint, recorded: recorded.volatile.checkpoint },
    ...{ from: options.from, forGate: options.forGate },
  });
}

function systemOf(prompt: JsonObject | null, given: string | undefined): string | undefined {
  const recorded = prompt?.system_sha256 ?? null;
  if (recorded === null && given === undefined) return undefined;
  if (recorded === null)
    throw new Unreachable("The run had no system prompt, and verify --system names one.");
  if (given === undefined)
    throw new Unreachable("The run had a system prompt: verify --system FILE makes it again.");
  if (fingerprint(given) === recorded) return given;
  throw new Unreachable("The system prompt of --system is not that of the run.");
}

interface CheckpointPlaces extends Places {
  readonly given: string | undefined;
  readonly recorded: string | undefined;
}

/**
 * The checkpoint with this fingerprint: where it is said to be, where it was, the embedded one, or one
 * below the folder to look in.
 */
export async function findCheckpoint(
  what: string,
  flag: string,
  print: string,
  { given, recorded, ...places }: CheckpointPlaces,
): Promise<Checkpoint> {
  const named = recorded === undefined ? [] : candidatesOf(recorded, places);
  const folders = given === undefined ? [...named, PI0, ...(await below(print, places))] : [given];
  let problem: string | undefined;
  for (const folder of folders) {
    if (folder !== "pi0" && folder !== given && !fileExists(folder)) continue;
    const loaded = await reached(() => loadCheckpoint(folder));
    if ("value" in loaded && loaded.value.fingerprint === print) return loaded.value;
    if (folder === PI0) continue;
    problem ??=
      "why" in loaded
        ? loaded.why
        : `The ${what} ${folder} is another one: its fingerprint is ${loaded.value.fingerprint.slice(0, 12)}…, that of the run ${print.slice(0, 12)}….`;
  }
  if (problem !== undefined) throw new Unreachable(problem);
  const found =
    recorded === undefined
      ? `The run does not say where its ${what} lay.`
      : `The ${what} ${recorded} is not there.`;
  const orNamed = places.forGate ? "" : ` Or name it with ${flag}.`;
  throw new Unreachable(`${found} ${whereToLook(places)}${orNamed}`);
}

/** Folders whose config.json names the fingerprint; loading them shows whether it is theirs. */
async function below(print: string, places: Places): Promise<string[]> {
  const { files } = await lookBelow(places);
  const folders: string[] = [];
  for (const { file } of files) {
    if (path.basename(file) !== "config.json") continue;
    const text = await readIfThere(file).catch(() => undefined);
    if (text?.includes(print)) folders.push(path.dirname(file));
  }
  return folders;
}

/** What the run says of the policy besides its weights is what the checkpoint says. */
export function comparePolicy(
  comparison: Comparison,
  recorded: RecordedPolicy,
  { identity, prompt }: EmbeddedPolicy,
): void {
  for (const [what, expected, found] of [
    ["policy", identity, recorded.policy],
    ["prompt", prompt, recorded.prompt],
  ] as const) {
    if (canonicalJson(expected) !== canonicalJson(found))
      comparison.differs("manifest.json", what, expected, found);
  }
}
