/** Sources that are files: texts, pairs of completions, labelled completions. */

import { usageError } from "../../core/errors.ts";
import type { Row } from "../algorithm.ts";
import type { Batch, Source } from "../source.ts";
import type { SourceContext } from "./context.ts";
import { SeededOrder } from "./order.ts";
import { itemsOf, type Text, Texts, toText } from "./texts.ts";

export async function openTexts(context: SourceContext): Promise<Source> {
  return written(context, await readTexts(context, toText), "texts");
}

export async function openPairs(context: SourceContext): Promise<Source> {
  return written(context, await readTexts(context, toPair), "pairs");
}

export async function openLabels(context: SourceContext): Promise<Source> {
  if (context.settings.batch < 2) {
    throw usageError(
      "a batch of one label has no other completion to compare with",
      "Give --batch 2 or more.",
    );
  }
  const labels: boolean[] = [];
  const texts = await readTexts(context, (fields) => {
    const text = toText(fields);
    if (typeof fields.label !== "boolean") {
      throw new TypeError("a labelled sample needs label, true or false");
    }
    labels.push(fields.label);
    return text;
  });
  return written(context, texts, "labels", async (items, rows) => {
    const shift = await generalShift(context, rows);
    const good = items.map((item) => Number(labels[item]));
    const count = good.reduce((sum, label) => sum + label, 0);
    return rows.map((row, i) => {
      const share = 1 / (good[i] ? count : rows.length - count);
      return { ...row, columns: { ...row.columns, good: good[i] as number, shift, share } };
    });
  });
}

function readTexts(
  { dataset, reading, heldOut }: SourceContext,
  toTexts: (fields: Record<string, unknown>) => readonly Text[],
): Promise<Texts> {
  return Texts.read(dataset, toTexts, reading, heldOut);
}

/** Batches of a file; `finish` may add columns. */
export function written(
  context: SourceContext,
  texts: Texts,
  role: string,
  finish: (items: readonly number[], rows: Row[]) => Promise<Row[]> = async (_, rows) => rows,
): Source {
  const { settings, algorithm } = context;
  const order = new SeededOrder(texts.count, settings.seed, role);
  return {
    inputs: [{ ...texts.input, role }],
    rows: texts.rowsOf(0).length * settings.batch,
    longest: texts.longest,
    varied: false,
    mostTokens: texts.mostTokens,
    async batch(step): Promise<Batch> {
      const start = performance.now();
      const items = itemsOf(step, settings.batch, order);
      const bare = items.flatMap((item) => texts.rowsOf(item));
      const rows = algorithm.reference ? await withReference(context, bare) : bare;
      const finished = await finish(items, rows);
      const judging = (performance.now() - start) / 1000;
      return { rows: finished, record: {}, seconds: { sampling: 0, scoring: 0, judging } };
    },
  };
}

async function withReference({ policy }: SourceContext, rows: readonly Row[]): Promise<Row[]> {
  const judged = await policy().judgeByReference(rows);
  return rows.map((row, i) => ({
    ...row,
    columns: { ...row.columns, reference: judged[i]?.logprobs ?? [] },
  }));
}

/**
 * How far the policy has moved from the reference in general: the mean log-ratio of completions under
 * the prompts of their neighbours, never below 0 (KTO).
 */
async function generalShift({ policy }: SourceContext, rows: readonly Row[]): Promise<number> {
  const mixed = rows.map(({ tokens, prompt }, i) => {
    const other = rows[(i + 1) % rows.length] as Row;
    return { tokens: [...tokens.slice(0, prompt), ...other.tokens.slice(other.prompt)], prompt };
  });
  const fitting = mixed.filter(({ tokens }) => tokens.length <= policy().length);
  if (fitting.length === 0) return 0;
  const [now, before] = [await policy().judge(fitting), await policy().judgeByReference(fitting)];
  const total = (list: Float32Array) => list.reduce((sum, x) => sum + x, 0);
  const ratios = now.map(({ logprobs }, i) => {
    return total(logprobs) - total(before[i]?.logprobs ?? new Float32Array());
  });
  return Math.max(0, ratios.reduce((sum, x) => sum + x, 0) / ratios.length);
}

function toPair(fields: Record<string, unknown>): readonly [Text, Text] {
  const { id = "", prompt, chosen, rejected } = fields;
  if (typeof prompt === "string" && typeof chosen === "string" && typeof rejected === "string") {
    const side = (completion: string) => ({ id: String(id), prompt, completion });
    return [side(chosen), side(rejected)];
  }
  throw new TypeError("a pair needs prompt, chosen and rejected, all strings");
}
