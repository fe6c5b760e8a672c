/**
 * The pipelines that sabotages are made of: real rollouts, evaluations, selections, trainings and gates
 * in a folder of their own. What several sabotages share is made once.
 */

import path from "node:path";
import { LockedRoomError } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { SamplingSettings } from "../core/policy.ts";
import { examplesOf } from "../datasets/splits.ts";
import { type GateOptions, gate } from "../gate/gate.ts";
import type { Axis } from "../loops/axes.ts";
import { evaluate } from "../loops/eval.ts";
import { rollout } from "../loops/rollout.ts";
import { select } from "../loops/select.ts";
import { builtInPolicy, loadSelectionPolicy } from "../loops/selection-policy.ts";
import { openEmbeddedPolicy } from "../policy/embedded.ts";
import { PI0 } from "../policy/pi0.ts";
import { PROVENANCE_SCHEMA } from "../runs/artifacts.ts";
import { provenancePath } from "../runs/manifest.ts";
import { openScorer } from "../scorers/open.ts";
import { type VerifyOptions, verify } from "../verify/verify.ts";
import { type Base, ROWS, readBase, weaker } from "./base.ts";
import { copyFolder, jsonl, writeText } from "./files.ts";
import { type Check, type Outcome, Refusal } from "./finding.ts";

export interface LaboratoryOptions {
  /** An empty folder for everything that is made. */
  readonly dir: string;
  /** The evaluation whose copies are sabotaged; one of the embedded policy unless given. */
  readonly run?: string | undefined;
  /** The training run whose checkpoint the sabotaged trainings begin with. */
  readonly train?: string | undefined;
}

export interface LabExample {
  readonly id: string;
  readonly prompt: string;
  readonly expected_answer?: unknown;
  readonly [field: string]: unknown;
}

/** An evaluation to make; what is left out is as in the base. */
export interface Conditions {
  readonly examples?: readonly LabExample[];
  /** By example; undefined leaves one out. */
  readonly completions?: readonly (string | undefined)[];
  /** In place of the completions. */
  readonly answers?: readonly object[];
  readonly provenance?: JsonObject | null;
  /** A built-in's name, or the text of a file. */
  readonly scorer?:
    | { readonly name: string }
    | { readonly files: Readonly<Record<string, string>> };
  readonly maxExamples?: number;
  readonly timeoutMs?: number;
  /** Secondary scorers, by name. */
  readonly axes?: readonly Axis[];
}

export const SAMPLING = { temperature: 1, top_p: 1, max_tokens: 32, seed: 0 } as const;
const KIND: Record<LockedRoomError["kind"], string> = {
  ...{ usage: "exit 64", data: "exit 65", io: "exit 74" },
};

export class Laboratory {
  readonly dir: string;
  readonly train: string | undefined;
  readonly #given: string | undefined;
  readonly #made = new Map<string, Promise<unknown>>();
  #folders = 0;

  private constructor({ dir, run, train }: LaboratoryOptions) {
    this.dir = dir;
    this.#given = run;
    this.train = train;
  }

  static async open(options: LaboratoryOptions): Promise<Laboratory> {
    const lab = new Laboratory(options);
    if (options.run !== undefined) await lab.base();
    return lab;
  }

  /** Made at the first call, and the same afterwards. */
  once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#made.get(key) as Promise<T> | undefined;
    if (known) return known;
    const made = make();
    this.#made.set(key, made);
    return made;
  }

  /** A path that nothing has used. */
  fresh(name: string): string {
    return path.join(this.dir, `${String(++this.#folders).padStart(3, "0")}-${name}`);
  }

  /** The rows that sabotages start from. */
  base(): Promise<Base> {
    return this.once("base", async () => readBase(this.#given ?? (await this.pi0Run())));
  }

  /** π₀ in a folder of its own, as a person would copy it. */
  pi0(): Promise<string> {
    return this.once("pi0", () => copyFolder(PI0, path.join(this.dir, "pi0")));
  }

  /** Held-out examples of the embedded task. */
  examples(count = ROWS): LabExample[] {
    return examplesOf("holdout")
      .slice(0, count)
      .map(({ id, prompt, expected_answer }) => ({ id, prompt, expected_answer }));
  }

  /** An evaluation of π₀ on the embedded task. */
  pi0Run(): Promise<string> {
    return this.once("pi0 run", async () => {
      const dataset = await this.dataset(this.examples());
      const answers = await this.rollout({ policy: await this.pi0(), dataset });
      return this.evaluated(dataset, answers, "pi0");
    });
  }

  dataset(examples: readonly object[]): Promise<string> {
    const text = jsonl(examples);
    const name = path.join(this.dir, "data", `${sha256(text).slice(0, 12)}.jsonl`);
    return this.once(name, () => writeText(name, text));
  }

  /** Samples from a checkpoint; gives the file of the answers. */
  async rollout(options: {
    readonly policy: string;
    readonly dataset: string;
    readonly n?: number;
    readonly sampling?: Partial<SamplingSettings>;
    readonly system?: string;
    readonly outdir?: string;
    readonly resume?: boolean;
    /** Ends as if interrupted after so many answers. */
    readonly stopAfter?: number;
  }): Promise<string> {
    const { n = 1, dataset, outdir = this.fresh("rollout"), resume, stopAfter } = options;
    return this.refusing("rollout", async () => {
      const policy = await openEmbeddedPolicy(options.policy, {
        sampling: {
          ...{ temperature: 1, top_k: 0, top_p: 1, max_tokens: 32, stop: [], seed: 0 },
          ...options.sampling,
        },
        system: options.system,
      });
      let left = stopAfter ?? Number.POSITIVE_INFINITY;
      const onAnswer = () => {
        if (--left <= 0) throw new Interrupted();
      };
      try {
        return (await rollout({ policy, dataset, n, outdir, resume, onAnswer })).answers;
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        return outdir;
      } finally {
        await policy.close();
      }
    });
  }

  /** Scores a file of completions, with the built-in scorer unless another is named. */
  evaluated(dataset: string, completions: string, name: string, scorer?: string): Promise<string> {
    const outdir = this.fresh(`eval-${name}`);
    return this.refusing("eval", async () => {
      await evaluate({ dataset, completions, outdir, scorer });
      return outdir;
    });
  }

  /** An evaluation under conditions of one's own; made once for each. */
  evaluate(name: string, conditions: Conditions = {}): Promise<string> {
    return this.once(`evaluate ${canonicalJson(plain(conditions))}`, async () => {
      const base = await this.base();
      const { provenance = stated("later") } = conditions;
      const examples =
        conditions.examples ??
        base.rows.map(({ id, prompt, expected_answer }) => ({ id, prompt, expected_answer }));
      const said = conditions.completions ?? base.rows.map(({ completion }) => completion);
      const answers =
        conditions.answers ??
        examples.flatMap(({ id }, i) =>
          said[i] === undefined ? [] : [{ id, completion: said[i] }],
        );
      const outdir = this.fresh(name);
      const dataset = await this.dataset(examples);
      const completions = await writeText(`${outdir}.completions.jsonl`, jsonl(answers));
      if (provenance !== null) {
        const text = JSON.stringify({ schema: PROVENANCE_SCHEMA, ...provenance });
        await writeText(provenancePath(completions), text);
      }
      const scorer = await this.#scorer(conditions.scorer, base, `${outdir}-scorer`);
      const { maxExamples, timeoutMs, axes } = conditions;
      return this.refusing("eval", async () => {
        const opened = await openScorer(scorer, { timeoutMs: timeoutMs ?? 1000 });
        try {
          await evaluate({ dataset, completions, outdir, scorer: opened, maxExamples, axes });
        } finally {
          await opened.close();
        }
        return outdir;
      });
    });
  }

  async #scorer(given: Conditions["scorer"], base: Base, dir: string): Promise<string> {
    if (given === undefined) return base.scorer;
    if ("name" in given) return given.name;
    const files = Object.entries(given.files);
    for (const [name, text] of files) await writeText(path.join(dir, name), text);
    return path.join(dir, files[0]?.[0] ?? "");
  }

  /** The run of a weaker policy: half of the right answers are withheld. */
  async baseline(conditions: Conditions = {}): Promise<string> {
    const { rows } = await this.base();
    return this.evaluate("baseline", {
      ...{ completions: weaker(rows), provenance: stated("earlier") },
      ...conditions,
    });
  }

  /** What the gate says about two runs. */
  gate(baseline: string, candidate: string, options: Partial<GateOptions> = {}): Promise<Outcome> {
    return this.refusing("gate", async () => {
      const { decision, reasons } = await gate({ baseline, candidate, ...options });
      const findings = reasons.map(({ code, message }) => ({
        ...{ check: "gate" as const, code, message },
      }));
      return { verdict: decision, findings: decision === "PROMOTE" ? [] : findings };
    });
  }

  /** Makes a run again; what differs is a finding. */
  verify(run: string, options: Partial<VerifyOptions> = {}): Promise<Outcome> {
    return this.refusing("verify", async () => {
      const { result, parts } = await verify({ ...options, run });
      const different = parts.filter(({ status }) => status === "differs");
      const findings = different.map(({ part, differences }) => ({
        ...{ check: "verify" as const, code: `${part}_differs` },
        message: `${differences} different`,
      }));
      return { verdict: result, findings };
    });
  }

  /** Best of n, or another rule: a built-in's name, or the text of a file. */
  select(options: {
    readonly dataset: string;
    readonly samples: string;
    readonly n: number;
    readonly rule?: string;
  }): Promise<string> {
    const outdir = this.fresh(`select-${options.n}`);
    return this.refusing("selection-demo", async () => {
      const { dataset, samples, n, rule } = options;
      const policy =
        rule === undefined
          ? builtInPolicy("best")
          : await loadSelectionPolicy(await writeText(`${outdir}-rule.ts`, rule));
      await select({ dataset, samples, n, outdir, policy });
      return outdir;
    });
  }

  /** Runs a step; what it refuses ends the pipeline as a finding. */
  async refusing<T>(check: Check, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LockedRoomError)) throw error;
      const message = error.message.replaceAll(`${this.dir}${path.sep}`, "");
      throw new Refusal({ check, code: KIND[error.kind], message });
    }
  }

  copy(dir: string, name: string): Promise<string> {
    return copyFolder(dir, this.fresh(name));
  }
}

class Interrupted extends Error {}

/** Conditions as JSON, in which nothing is undefined. */
function plain(conditions: Conditions): JsonObject {
  return JSON.parse(JSON.stringify(conditions)) as JsonObject;
}

/** The provenance of a policy that is only named. */
export function stated(name: string, more: JsonObject = {}): JsonObject {
  return { policy: { kind: "stated", name }, sampling: { ...SAMPLING }, ...more };
}
