/** `train ALGORITHM --help`: the data, the settings and an example of one algorithm. */

import { Command } from "commander";
import { z } from "zod";
import type { JsonObject } from "../core/json.ts";
import type { Algorithm, Need } from "../learn/algorithm.ts";
import { unusedSettings } from "../learn/settings/unused.ts";
import { valueAt } from "../learn/settings/wrong-setting.ts";
import { completed, settingsSchema } from "../learn/settings.ts";
import { isSampled } from "../learn/sources/index.ts";
import { addJudgeOptions } from "./open-judge.ts";
import { commandLines, hanging, wrap } from "./terminal.ts";

interface NeedHelp {
  readonly data: string;
  readonly row: string;
  readonly from: string;
  /** After the algorithm's name. */
  readonly example: readonly string[];
  /** The same in an environment. */
  readonly played?: readonly string[];
}

const EXAMPLES: NeedHelp = {
  data: "examples; the policy writes completions for their prompts, and --scorer gives the reward",
  row: '{"id": "a", "prompt": "2+3=", "expected_answer": 5}',
  from: "The default scorer needs expected_answer; one of your own may read other fields. With --env the environment brings tasks and rewards, and --dataset and --scorer are not needed.",
  example: [
    ...["--init pi0", "--dataset data/datasets/math_train.jsonl"],
    ...["--dev data/datasets/math_dev.jsonl", "--threads 2"],
  ],
  played: ["--init runs/start/checkpoint", "--env my-game.ts", "--threads 2"],
};

const PAIRS: NeedHelp = {
  data: "preference pairs: two completions of a prompt, the better one first",
  row: '{"id": "a", "prompt": "2+3=", "chosen": "Final: 5", "rejected": "5?"}',
  from: "`lockedroom pairs` makes them from scored samples.",
  example: ["--init pi0", "--dataset runs/pairs/pairs.jsonl"],
};

const HELP: Readonly<Record<Need, NeedHelp>> = {
  texts: {
    data: "texts: a prompt and the completion to learn; only the completion is trained on",
    row: '{"id": "a", "prompt": "2+3=", "completion": "Final: 5"}',
    from: "A conversation has messages (role, content) in place of both; every answer of the role assistant is learned. --dev takes examples; rows with a completion give a held-out loss as well.",
    example: ["--dataset texts.jsonl", "--dev held_out.jsonl"],
  },
  "passing samples": EXAMPLES,
  pairs: PAIRS,
  labels: {
    data: "labelled completions: label is true for a good one, false for a bad one",
    row: '{"id": "a", "prompt": "2+3=", "completion": "5?", "label": false}',
    from: "`lockedroom pairs` makes them from scored samples.",
    example: ["--init pi0", "--dataset runs/pairs/labels.jsonl"],
  },
  rollouts: EXAMPLES,
};

/** Groups of settings that matter first; the rest is in --show-settings. */
const GROUPS = ["steps", "batch", "algorithm", "rate", "rollouts", "kl"];

const JUDGE_OPTIONS = addJudgeOptions(new Command()).options.map(({ long }) => long ?? "");

/** Options that have no effect on an algorithm. */
function idleOptions({ needs }: Algorithm): readonly string[] {
  return [
    ...(needs === "texts" ? [] : ["--size", "--alphabet", "--context"]),
    ...(needs === "rollouts" ? ["--batch"] : []),
    ...(isSampled(needs) ? [] : ["--cost-scorer", "--env", "--validation-env"]),
    ...(needs === "rollouts" ? [] : JUDGE_OPTIONS),
    ...(needs === "passing samples" ? ["--cost-scorer"] : []),
  ];
}

/** Leaves out the options that have no effect on the algorithm. */
export function describeAlgorithm(command: Command, algorithm: Algorithm): void {
  const { name, about } = algorithm;
  const idle = idleOptions(algorithm);
  for (const option of command.options) {
    if (idle.includes(option.long ?? "")) option.hideHelp();
    // What an option means beside one that is not shown.
    if (idle.includes("--env"))
      option.description = option.description.replace(/ \(with --env: [^)]*\)/, "");
  }
  // It is already chosen; an argument without a description is not listed.
  for (const argument of command.registeredArguments) argument.description = "";
  command.description(`Trains a policy with ${name}: ${about}.`).usage(`${name} [options]`);
}

export function algorithmHelp(algorithm: Algorithm): string {
  const { name, needs } = algorithm;
  const { data, row, from, example, played } = HELP[needs];
  return [
    wrap(`Data of ${name}, one JSON object per line: ${data}.`),
    `  ${row}`,
    wrap(from),
    "",
    `Settings of ${name} with their defaults (--set NAME=VALUE or --config FILE):`,
    ...settingLines(algorithm),
    wrap(`All settings, with ranges: lockedroom train ${name} --show-settings`),
    "",
    played ? "Examples:" : "Example:",
    ...[example, ...(played ? [played] : [])].map((flags) =>
      commandLines(`lockedroom train ${name}`, [...flags, `--outdir runs/${name}`], "  "),
    ),
  ].join("\n");
}

function settingLines(algorithm: Algorithm): string[] {
  const schema = z.toJSONSchema(settingsSchema(algorithm), { io: "input" });
  const values = completed(algorithm, {}) as JsonObject;
  const unused = unusedSettings(algorithm);
  const all = GROUPS.flatMap((group) => leavesOf(schema.properties?.[group], [group]));
  return all
    .filter(({ path }) => !unused.some((one) => `${path.join(".")}.`.startsWith(`${one}.`)))
    .map(({ path, description }) => {
      const value = JSON.stringify(valueAt(values, path)).replaceAll('"', "");
      return hanging(`  ${path.join(".").padEnd(27)} ${value.padEnd(10)} `, description, 41);
    });
}

type Property = z.core.JSONSchema.BaseSchema | boolean | undefined;

function leavesOf(schema: Property, path: readonly string[]): Leaf[] {
  if (typeof schema !== "object") return [];
  const { properties, description = "" } = schema;
  if (!properties) return [{ path, description }];
  return Object.entries(properties).flatMap(([name, inner]) =>
    leavesOf(inner as Property, [...path, name]),
  );
}

interface Leaf {
  readonly path: readonly string[];
  readonly description: string;
}
