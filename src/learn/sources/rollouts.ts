/** Rows that the policy itself writes: sampled, scored, compared with the reference, given credit. */

import type { Example } from "../../core/records.ts";
import type { Generation } from "../../policy/generate.ts";
import type { Group, Rewarded, Row } from "../algorithm.ts";
import { allEqual, deviation, mean } from "../parts/advantages.ts";
import { nextPrice, priceOf } from "../parts/constraint.ts";
import { estimate, nextCoefficient, startCoefficient } from "../parts/kl.ts";
import { shiftedByOne, truncated } from "../sabotage.ts";
import type { Batch, Source } from "../source.ts";
import type { SourceContext } from "./context.ts";
import { type Examples, longestPrompt, readExamples } from "./examples.ts";
import { SeededOrder } from "./order.ts";
import { countOf, type Scores, scoresOf } from "./scored.ts";

/** A sampled completion as a row, before it is known how good it was. */
interface Answer {
  readonly example: Example;
  readonly said: Generation;
  readonly tokens: readonly number[];
  readonly prompt: number;
}

/** What a batch cost so far: seconds, and tokens that were sampled. */
interface Effort {
  sampling: number;
  scoring: number;
  judging: number;
  tokens: number;
}

interface Scored {
  readonly answers: readonly Answer[];
  readonly scores: Scores;
}

export async function openRollouts(context: SourceContext): Promise<Source> {
  const examples = await readExamples(context.dataset, "examples");
  for (const { prompt, id } of examples.list) {
    context.heldOut.refuse(prompt, id, context.dataset);
  }
  const { prompts, group, max_tokens: most } = context.settings.rollouts;
  const longest = longestPrompt(examples, context.reading);
  const rollouts = new Rollouts(context, examples);
  return {
    inputs: [examples.input],
    rows: prompts * group,
    longest: longest + most,
    varied: true,
    mostTokens: most,
    batch: (step) => rollouts.batch(step),
  };
}

class Rollouts {
  readonly #context: SourceContext;
  readonly #examples: Examples;
  readonly #order: SeededOrder;

  constructor(context: SourceContext, examples: Examples) {
    this.#context = context;
    this.#examples = examples;
    this.#order = new SeededOrder(examples.list.length, context.settings.seed, "examples");
  }

  async batch(step: number): Promise<Batch> {
    const seconds: Effort = { sampling: 0, scoring: 0, judging: 0, tokens: 0 };
    const groups = await this.#groups(step, seconds);
    const started = performance.now();
    const { credit, record } = await this.#credit(groups);
    seconds.judging += (performance.now() - started) / 1000;
    const rows = groups.flatMap(({ answers }, g) =>
      answers.map(({ tokens, prompt }, i): Row => {
        const columns = credit[g]?.[i] ?? {};
        return { tokens, prompt, columns };
      }),
    );
    const codes = groups.flatMap(({ scores }) => scores.codes);
    const { tokens: sampled_tokens, ...spent } = seconds;
    return {
      ...{ rows, outcomes: countOf(codes), seconds: spent },
      record: { ...record, sampled_tokens },
    };
  }

  /** As many groups as an update takes; those that teach nothing are replaced where that is asked. */
  async #groups(step: number, seconds: Effort): Promise<Scored[]> {
    const { prompts, dynamic } = this.#context.settings.rollouts;
    const kept: Scored[] = [];
    let spare: Scored[] = [];
    const drawn = new Map<string, number>();
    for (let round = 0; round <= dynamic && kept.length < prompts; round++) {
      const first = ((step - 1) * (dynamic + 1) + round) * prompts;
      const examples = Array.from(
        { length: prompts },
        (_, i) => this.#examples.list[this.#order.at(first + i)] as Example,
      );
      const found = await this.#sample(step, examples, drawn, seconds);
      const teaches = ({ scores }: Scored) => dynamic === 0 || !allEqual(scores.rewards);
      kept.push(...found.filter(teaches));
      spare = [...spare, ...found.filter((scored) => !teaches(scored))];
    }
    return [...kept, ...spare].slice(0, prompts);
  }

  async #sample(
    step: number,
    examples: readonly Example[],
    /** Samples so far of each example in this step: one that comes again is drawn anew. */
    drawn: Map<string, number>,
    seconds: Effort,
  ): Promise<Scored[]> {
    const { settings, reading, rewards, cost } = this.#context;
    const { group, temperature, top_k, top_p, max_tokens } = settings.rollouts;
    const wanted = examples.flatMap((example) => {
      const prompt = reading.promptTokens(example.prompt);
      const before = drawn.get(example.id) ?? 0;
      drawn.set(example.id, before + group);
      return Array.from({ length: group }, (_, sample) => ({
        prompt,
        address: [settings.seed, step, example.id, before + sample],
      }));
    });
    const start = performance.now();
    const said = await this.#context.policy().sample(wanted, {
      ...{ temperature, top_k, top_p, max_tokens, stop: [], seed: settings.seed },
      ...truncated(settings.sabotage),
    });
    const sampled = performance.now();
    const answers = said.map((one, i): Answer => {
      const prompt = wanted[i]?.prompt ?? [];
      return {
        example: examples[Math.floor(i / group)] as Example,
        said: one,
        tokens: [...prompt, ...one.tokens],
        prompt: prompt.length,
      };
    });
    const asked = answers.map(({ example, said: { completion } }) => ({ example, completion }));
    const scores = await scoresOf(asked, rewards, settings.weights, cost);
    // Groups that are thrown away afterwards were paid for all the same.
    seconds.tokens += said.reduce((sum, { completion_tokens }) => sum + completion_tokens, 0);
    seconds.sampling += (sampled - start) / 1000;
    seconds.scoring += (performance.now() - sampled) / 1000;
    return examples.map((_, g) => {
      const cut = <T>(list: readonly T[]) => list.slice(g * group, (g + 1) * group);
      return {
        answers: cut(answers),
        scores: {
          rewards: cut(scores.rewards),
          components: scores.components.map(cut),
          codes: cut(scores.codes),
          costs: scores.costs && cut(scores.costs),
        },
      };
    });
  }

  async #credit(groups: readonly Scored[]) {
    const { algorithm, settings, memory, policy, rewards } = this.#context;
    const answers = groups.flatMap((group) => group.answers);
    const before = (await policy().judgeByReference(answers)).map(({ logprobs }) => logprobs);
    const values = algorithm.valueHead
      ? (await policy().judge(answers)).map((judged) => judged.values)
      : undefined;
    const coefficient = (memory.kl_coefficient as number) ?? startCoefficient(settings.kl);
    const { place, estimator } = settings.kl;
    const price = priceOf(settings.cost, memory);
    let next = 0;
    const credited: Group[] = groups.map(({ answers: own, scores }) =>
      own.map(({ said }, i): Rewarded => {
        const row = next++;
        const old = said.logprobs ?? [];
        const penalties = old.map((logprob, t) =>
          place === "reward" && coefficient > 0
            ? coefficient * estimate(estimator, logprob, before[row]?.[t] ?? 0)
            : 0,
        );
        const score = (scores.rewards[i] as number) - price * (scores.costs?.[i] ?? 0);
        return {
          score,
          reward: score - penalties.reduce((sum, x) => sum + x, 0),
          penalties,
          old: settings.sabotage === "shifted_logprobs" ? shiftedByOne(old) : old,
          values: values?.[row],
        };
      }),
    );
    const { columns, record } = algorithm.credit?.(credited, settings.algorithm, memory) ?? {
      columns: [],
      record: {},
    };
    const moved = movedFrom(answers, before);
    memory.kl_coefficient = nextCoefficient(
      settings.kl,
      coefficient,
      moved.perCompletion[estimator],
      answers.length,
    );
    const flat = before.values();
    return {
      credit: columns.map((group) =>
        group.map((own) => ({ ...own, reference: flat.next().value ?? [] })),
      ),
      record: {
        ...rewardRecord(
          groups,
          rewards.map(({ identity }) => identity.name),
        ),
        ...costRecord(groups, settings.cost, memory, price),
        ...moved.record,
        ...lengthRecord(answers, settings.rollouts.max_tokens),
        ...record,
        "kl/coefficient": coefficient,
      },
    };
  }
}

/** Estimates of the KL to the reference from the sampled tokens. */
function movedFrom(answers: readonly Answer[], before: readonly Float32Array[]) {
  const totals = { k1: 0, k2: 0, k3: 0 };
  let [tokens, gap] = [0, 0];
  for (const [i, { said }] of answers.entries()) {
    for (const [t, logprob] of (said.logprobs ?? []).entries()) {
      const reference = before[i]?.[t] ?? 0;
      for (const kind of ["k1", "k2", "k3"] as const) {
        totals[kind] += estimate(kind, logprob, reference);
      }
      gap = Math.max(gap, Math.abs(logprob - reference));
      tokens++;
    }
  }
  const per = (n: number) => ({ k1: totals.k1 / n, k2: totals.k2 / n, k3: totals.k3 / n });
  const token = per(tokens);
  return {
    perCompletion: per(answers.length),
    record: {
      "kl/k1": token.k1,
      "kl/k2": token.k2,
      "kl/k3": token.k3,
      // Sampling and judging compute the same in two ways; the largest differences seen are 3e-5.
      "check/reference_gap": gap < 1e-4 ? 0 : gap,
      "check/sampling_gap": samplingGap(answers, tokens),
    },
  };
}

/** How much likelier the tokens were where they were drawn from than under the policy. */
function samplingGap(answers: readonly Answer[], tokens: number): number {
  let total = 0;
  for (const { said } of answers) {
    for (const [t, drawn] of (said.sampled_logprobs ?? []).entries()) {
      total += drawn - (said.logprobs?.[t] ?? 0);
    }
  }
  return total / tokens;
}

function rewardRecord(groups: readonly Scored[], names: readonly string[]) {
  const rewards = groups.flatMap(({ scores }) => scores.rewards);
  const record: Record<string, number> = {
    "reward/mean": mean(rewards),
    "reward/std": deviation(rewards, "sample"),
    "reward/min": Math.min(...rewards),
    "reward/max": Math.max(...rewards),
    "reward/zero_std_groups": mean(groups.map(({ scores }) => Number(allEqual(scores.rewards)))),
  };
  if (names.length > 1) {
    for (const [i, name] of names.entries()) {
      record[`reward/${name}`] = mean(groups.flatMap(({ scores }) => scores.components[i] ?? []));
    }
  }
  return record;
}

function costRecord(
  groups: readonly Scored[],
  settings: SourceContext["settings"]["cost"],
  memory: SourceContext["memory"],
  price: number,
): Record<string, number> {
  if (!settings) return {};
  const cost = mean(groups.flatMap(({ scores }) => scores.costs ?? []));
  memory.price = nextPrice(settings, price, cost);
  return { "cost/mean": cost, "cost/limit": settings.limit, "cost/lambda": price };
}

function lengthRecord(answers: readonly Answer[], most: number) {
  const lengths = answers.map(({ said }) => said.completion_tokens);
  const counts = Object.values(countOf(answers.map(({ said }) => said.completion)));
  return {
    "length/mean": mean(lengths),
    "length/min": Math.min(...lengths),
    "length/max": Math.max(...lengths),
    "length/truncated": mean(
      answers.map(({ said }) => Number(said.finish === "length" && said.completion_tokens >= most)),
    ),
    repeated: Math.max(...counts) / answers.length,
  };
}
