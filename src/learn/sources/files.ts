/** Training data that is a file: texts, pairs of completions, labelled completions. */

import { usageError } from "../../core/errors.ts";
import { promptLength, type TokenRow } from "../../core/token-row.ts";
import type { Engine } from "../../engine/engine.ts";
import type { TrainingRow } from "../../engine/loss.ts";
import type { Batch, DataContext, Source, TrainingData } from "../source.ts";
import { SeededOrder } from "./order.ts";
import { itemsOf, type Text, Texts, toText } from "./texts.ts";

export async function readTexts(context: DataContext): Promise<TrainingData> {
  return textData(context, await readFile(context, toText), "texts");
}

export async function readPairs(context: DataContext): Promise<TrainingData> {
  return textData(context, await readFile(context, toPair), "pairs");
}

export async function readLabels(context: DataContext): Promise<TrainingData> {
  if (context.settings.batch < 2) {
    throw usageError(
      "a batch of one label has no other completion to compare with",
      "Give --batch 2 or more.",
    );
  }
  const labels: boolean[] = [];
  const texts = await readFile(context, (fields) => {
    const text = toText(fields);
    if (typeof fields.label !== "boolean") {
      throw new TypeError("a labelled sample needs label, true or false");
    }
    labels.push(fields.label);
    return text;
  });
  return textData(context, texts, "labels", async (engine, items, rows) => {
    const shift = await generalShift(engine, rows);
    const good = items.map((item) => Number(labels[item]));
    const count = good.reduce((sum, label) => sum + label, 0);
    return rows.map((row, i) => {
      const share = 1 / (good[i] ? count : rows.length - count);
      return { ...row, columns: { ...row.columns, good: good[i] as number, shift, share } };
    });
  });
}

function readFile(
  { dataset, encoder, heldOut }: DataContext,
  toTexts: (fields: Record<string, unknown>) => readonly Text[],
): Promise<Texts> {
  return Texts.read(dataset, toTexts, encoder, heldOut);
}

/** Adds columns to the rows of a batch. */
type Finish = (
  engine: Engine,
  items: readonly number[],
  rows: TrainingRow[],
) => Promise<TrainingRow[]>;

function textData(context: DataContext, texts: Texts, role: string, finish?: Finish): TrainingData {
  return {
    inputs: [{ ...texts.input, role }],
    prompts: texts.prompts,
    longest: texts.longest,
    maxTokens: texts.maxTokens,
    open: ({ engine }) => textSource(context, engine, texts, role, finish),
  };
}

/** Batches of texts in a seeded order. */
export function textSource(
  { settings, algorithm }: DataContext,
  engine: Engine,
  texts: Texts,
  role: string,
  finish: Finish = async (_engine, _items, rows) => rows,
): Source {
  const order = new SeededOrder(texts.count, settings.seed, role);
  return {
    state: () => null,
    async batch(step): Promise<Batch> {
      const start = performance.now();
      const items = itemsOf(step, settings.batch, order);
      const bare = items.flatMap((item) => texts.rowsOf(item));
      const rows = algorithm.reference
        ? await withReference(engine, bare)
        : bare.map((row) => ({ ...row, columns: {} }));
      const finished = await finish(engine, items, rows);
      const logprobs = (performance.now() - start) / 1000;
      return {
        ...{ rows: finished, metrics: {}, klCoefficient: settings.kl.coefficient },
        seconds: { sampling: 0, scoring: 0, logprobs },
      };
    },
  };
}

async function withReference(engine: Engine, rows: readonly TokenRow[]): Promise<TrainingRow[]> {
  const stats = await engine.tokenStats(rows, "reference");
  return rows.map((row, i) => ({ ...row, columns: { reference: stats[i]?.logprobs ?? [] } }));
}

/**
 * How far the policy has moved from the reference in general: the mean log-ratio of completions under
 * the prompts of their neighbours, never below 0 (KTO).
 */
async function generalShift(engine: Engine, rows: readonly TokenRow[]): Promise<number> {
  const mixed = rows.map((row, i) => otherCompletion(row, rows[(i + 1) % rows.length] as TokenRow));
  const fitting = mixed.filter(({ tokens }) => tokens.length <= engine.encoder.maxLength);
  if (fitting.length === 0) return 0;
  const now = await engine.tokenStats(fitting, "policy");
  const before = await engine.tokenStats(fitting, "reference");
  const total = (list: Float32Array) => list.reduce((sum, x) => sum + x, 0);
  const ratios = now.map(({ logprobs }, i) => {
    return total(logprobs) - total(before[i]?.logprobs ?? new Float32Array());
  });
  return Math.max(0, ratios.reduce((sum, x) => sum + x, 0) / ratios.length);
}

/** A row's prompt with the completion of another. */
function otherCompletion(row: TokenRow, other: TokenRow): TokenRow {
  const [own, theirs] = [promptLength(row), promptLength(other)];
  return {
    tokens: [...row.tokens.slice(0, own), ...other.tokens.slice(theirs)],
    actions: other.actions.map(([from, to]) => [from - theirs + own, to - theirs + own]),
  };
}

function toPair(fields: Record<string, unknown>): readonly [Text, Text] {
  const { id = "", prompt, chosen, rejected } = fields;
  if (typeof prompt === "string" && typeof chosen === "string" && typeof rejected === "string") {
    const side = (completion: string) => ({ id: String(id), prompt, completion });
    return [side(chosen), side(rejected)];
  }
  throw new TypeError("a pair needs prompt, chosen and rejected, all strings");
}
