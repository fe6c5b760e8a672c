/** `lockedroom judge cost`: what judged training costs, from numbers that can all be changed. */

import { type Command, Option } from "commander";
import {
  COST_EXAMPLES,
  COST_FIELD_NAMES,
  type CostExample,
  type CostExampleName,
  type CostField,
  type CostInputs,
  DEFAULT_INPUTS,
  exampleInputs,
  fieldOf,
} from "../judge/cost-inputs.ts";
import {
  groupJudgeCost,
  type JudgeCost,
  requestTokens,
  singleJudgeCost,
  type TrainingCost,
  trainingCost,
  withDoubledGroup,
} from "../judge/cost-model.ts";
import { numberIn, wholeNumber } from "./options.ts";
import type { Subcommand } from "./subcommand.ts";
import { out, paint, percent, print, printableJson, wrap } from "./terminal.ts";

type Flags = Readonly<Record<string, number | undefined>> & {
  readonly example?: CostExampleName;
  readonly json?: boolean;
};

const EXAMPLE_LIST = Object.entries(COST_EXAMPLES)
  .map(([name, { about }]) => `  ${name.padEnd(13)}${about}`)
  .join("\n");

export const judgeCost: Subcommand = {
  summary: "what judged training costs and how long it takes: a model",
  description:
    "Computes steps, judge requests, tokens, GPU hours and dollars of a training with a judge. Every input is printed and has an option.",
  help: `Published examples (--example):
${EXAMPLE_LIST}
Their numbers are marked as from the source, assumed, measured in the request
that this program sends, or given by you. Prices are examples: give those that
you pay.

Examples:
  lockedroom judge cost --example email-agent
  lockedroom judge cost --example auto-rl --attempts 4
  lockedroom judge cost --inputs 200 --epochs 2 --turns 6 \\
    --observation-tokens 300 --judge-price-in 0.4 --judge-price-out 1.6 --json`,
  define(command) {
    command.addOption(
      new Option("--example <name>", "begin with a published example").choices(
        Object.keys(COST_EXAMPLES),
      ),
    );
    for (const name of COST_FIELD_NAMES) addField(command, name);
    command.option("--json", "print as JSON").action((_name: string, flags: Flags) => show(flags));
  },
};

const flagOf = (name: string) => name.replaceAll("_", "-");
const keyOf = (name: string) => name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());

function addField(command: Command, name: CostField): void {
  const { about, whole, least = 0, most } = fieldOf(name);
  const [high, words] =
    most === undefined
      ? [1e12, least > 0 ? "a number above 0" : "a number from 0 up"]
      : [most, `a number from ${least} to ${most}`];
  command.option(
    `--${flagOf(name)} <n>`,
    about,
    whole ? wholeNumber(least, 1e9) : numberIn(least, high, words),
  );
}

type Origin = "source" | "assumed" | "measured" | "given";

function show(flags: Flags): void {
  const { example } = flags;
  const given = (name: CostField) => flags[keyOf(name)];
  const start = example === undefined ? DEFAULT_INPUTS : exampleInputs(example);
  const inputs = Object.fromEntries(
    COST_FIELD_NAMES.map((name) => [name, given(name) ?? start[name]]),
  ) as CostInputs;
  const published: CostExample | undefined = example && COST_EXAMPLES[example];
  const originOf = (name: CostField): Origin => {
    if (given(name) !== undefined) return "given";
    if (name in (published?.source ?? {})) return "source";
    return fieldOf(name).measured ? "measured" : "assumed";
  };
  const found = {
    cost: trainingCost(inputs),
    request: requestTokens(inputs),
    doubled: withDoubledGroup(inputs),
    alone: singleJudgeCost(inputs),
  };
  if (flags.json) {
    out(printableJson(asJson(inputs, originOf, published, found), 2));
    return;
  }
  printInputs(inputs, originOf);
  out();
  printCost(found.cost, found.request.prompt);
  out();
  printComparisons(inputs, found);
  if (published) printSource(published);
}

interface Found {
  readonly cost: TrainingCost;
  readonly request: ReturnType<typeof requestTokens>;
  readonly doubled: TrainingCost;
  readonly alone: JudgeCost;
}

function asJson(
  inputs: CostInputs,
  originOf: (name: CostField) => Origin,
  published: CostExample | undefined,
  { cost, request, doubled, alone }: Found,
): object {
  return {
    inputs: Object.fromEntries(
      COST_FIELD_NAMES.map((name) => [
        name,
        { value: inputs[name], from: originOf(name), about: fieldOf(name).about },
      ]),
    ),
    ...(published && { source_says: published.said, notes: published.notes }),
    request,
    cost,
    doubled_group: doubled,
    attempts_judged_alone: alone,
  };
}

const MARKS: Readonly<Record<Origin, string>> = {
  source: "from the source",
  assumed: "assumed",
  measured: "our request",
  given: "given",
};

function printInputs(inputs: CostInputs, originOf: (name: CostField) => Origin): void {
  out(paint("bold", "Inputs"));
  for (const name of COST_FIELD_NAMES) {
    const number = amount(inputs[name]).padStart(7);
    out(`${number}  ${fieldOf(name).about.padEnd(53)} ${MARKS[originOf(name)]}`);
  }
}

function printCost(cost: TrainingCost, request: number): void {
  const { judge } = cost;
  out(paint("bold", "Result"));
  line(cost.steps, `steps, of ${amount(cost.groups)} groups`);
  line(cost.episodes, "episodes to learn from");
  if (cost.validation_episodes > 0) line(cost.validation_episodes, "episodes of validation");
  line(cost.tokens, "tokens of episodes");
  line(judge.requests, `requests to the judge, of ${amount(Math.round(request))} tokens each`);
  line(judge.prompt_tokens, `tokens that it reads, ${amount(judge.cached_tokens)} from its cache`);
  line(judge.answer_tokens, "tokens that it writes");
  out(`${fixed(cost.hours, 1).padStart(11)}  hours from the first step to the last`);
  out(`${fixed(cost.gpu_hours, 1).padStart(11)}  GPU hours`);
  money(cost.gpu_dollars, "for the GPU");
  money(judge.dollars, `for the judge, ${percent(cost.judge_share)} of the total`);
  money(cost.dollars, "in total");
}

function printComparisons(inputs: CostInputs, { cost, doubled, alone }: Found): void {
  const group = groupJudgeCost(inputs);
  out(paint("bold", "For comparison"));
  money(
    doubled.dollars,
    `in total with groups of ${2 * inputs.attempts}: ${dollars(doubled.dollars - cost.dollars)} more, the judge ${dollars(doubled.judge.dollars)}`,
  );
  money(
    alone.dollars,
    `for a judge that sees one attempt at a time: ${amount(alone.requests)} requests; by group ${dollars(group.dollars)}`,
  );
}

function printSource({ said, notes }: CostExample): void {
  out();
  out(paint("bold", "The source says"));
  for (const fact of said) print(fact, "  ");
  out();
  for (const note of notes) print(note, "  ");
}

function line(value: number, text: string): void {
  out(`${amount(value).padStart(11)}  ${text}`);
}

function money(value: number, text: string): void {
  out(`${dollars(value).padStart(11)}  ${wrap(text, " ".repeat(13)).trimStart()}`);
}

const fixed = (value: number, digits: number) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const dollars = (value: number) => `$${fixed(value, 2)}`;
/** At most three decimals. */
const amount = (value: number) => value.toLocaleString("en", { maximumFractionDigits: 3 });
